# Finds what fp8c builds on: Debian's LLVM/MLIR 22 and the libraries around it.
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "fp8c needs LLVM/MLIR 22, found ${LLVM_VERSION} in ${LLVM_DIR}")
endif()
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL REQUIRED)
pkg_check_modules(MINIZIP REQUIRED IMPORTED_TARGET minizip)
find_program(FLATC flatc REQUIRED)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(FP8C_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})

# Everything of MLIR and LLVM that the compiler uses, behind one name: the two dylibs, or the static archives.
add_library(fp8c_mlir INTERFACE)
target_include_directories(fp8c_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(fp8c_mlir INTERFACE ${FP8C_LLVM_DEFINITIONS})
target_compile_options(fp8c_mlir INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
if(FP8C_STATIC_LLVM)
  include(FP8CStaticLibs)
  # Tools that run wherever they are put: what is unused is dropped, C++'s library is inside, `install` brings the rest.
  add_link_options(-Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc -Wl,--disable-new-dtags)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
  target_link_libraries(fp8c_mlir INTERFACE ${FP8C_STATIC_MLIR_LIBS})
else()
  target_link_libraries(fp8c_mlir INTERFACE MLIR LLVM)
endif()

# A BLAS that several threads may call (the serial build of Debian does not lock its buffers). It runs on one thread: the
# runtime distributes fixed tiles over its own pool, so results do not depend on the number of threads.
find_library(OPENBLAS NAMES openblas PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
             /usr/lib/x86_64-linux-gnu/openblas-pthread NO_DEFAULT_PATH REQUIRED)
find_path(OPENBLAS_INCLUDE cblas.h PATHS /usr/include/x86_64-linux-gnu/openblas-pthread NO_DEFAULT_PATH REQUIRED)
add_library(fp8c_blas INTERFACE)
target_include_directories(fp8c_blas SYSTEM INTERFACE ${OPENBLAS_INCLUDE})
target_link_libraries(fp8c_blas INTERFACE ${OPENBLAS})

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden)
if(FP8C_SANITIZERS)
  add_compile_options(-fsanitize=${FP8C_SANITIZERS} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${FP8C_SANITIZERS})
endif()
# The fuzzers see which branches an input takes in all of fp8c's code.
if(FP8C_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
