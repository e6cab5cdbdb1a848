# One precompiled header for all files that include MLIR: a compile takes 2 s instead of 11 s.
add_library(fp8c_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/Precompiled.cpp)
target_link_libraries(fp8c_pch PUBLIC fp8c_mlir)
target_precompile_headers(fp8c_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Precompiled.h)
# Without file times in it the header is the same in every clone, so that ccache knows its users again.
target_compile_options(fp8c_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")

# What every executable of a sanitizer build links.
if(FP8C_SANITIZERS MATCHES "address")
  add_library(fp8c_sanitizer_options OBJECT ${CMAKE_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
else()
  add_library(fp8c_sanitizer_options INTERFACE)
endif()

# fp8c_add_library(Name sources... [LINK libs...] [DEPENDS targets...]): a static library of the compiler (sees MLIR).
function(fp8c_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} fp8c_mlir)
  target_precompile_headers(${name} REUSE_FROM fp8c_pch)
  add_dependencies(${name} fp8c-headers ${ARG_DEPENDS})
endfunction()

# fp8c_add_runtime_library(Name sources... [LINK libs...]): the same without any LLVM.
function(fp8c_add_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  add_dependencies(${name} fp8c-headers)
endfunction()

# fp8c_add_tool(name sources... LINK libs...): an executable in bin/.
function(fp8c_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} fp8c_sanitizer_options)
  add_dependencies(${name} fp8c-headers)
  set_property(GLOBAL APPEND PROPERTY FP8C_TOOLS ${name})
endfunction()

# fp8c_add_unittest(NameTests sources... LINK libs... [RUNTIME]): a GoogleTest executable that lit runs; its name ends in
# Tests. RUNTIME: without any LLVM. (The precompiled header is -fPIC, what CMake gives executables is -fPIE, and the two
# do not mix.)
function(fp8c_add_unittest name)
  cmake_parse_arguments(ARG "RUNTIME" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main fp8c_sanitizer_options)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/Unit)
  if(NOT ARG_RUNTIME)
    target_link_libraries(${name} PRIVATE fp8c_mlir)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
    target_precompile_headers(${name} REUSE_FROM fp8c_pch)
  endif()
  add_dependencies(${name} fp8c-headers)
  add_dependencies(fp8c-unittests ${name})
endfunction()

# fp8c_tablegen(File.td -flag Output.inc): one generated file; `fp8c-headers` depends on all of them.
function(fp8c_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  list(POP_BACK args output)
  mlir_tablegen(${output} ${args} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})
  string(MAKE_C_IDENTIFIER "${CMAKE_CURRENT_BINARY_DIR}/${output}" id)
  add_custom_target(tablegen-${id} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_dependencies(fp8c-headers tablegen-${id})
endfunction()

# Everything generated that a source file may include.
add_custom_target(fp8c-headers)
