# What stands behind `fp8c_mlir` when LLVM is linked statically. The linker drops what is unused, so one list serves all
# targets. Debian's MLIR archives name the LLVM dylib as their dependency: it is taken out, and LLVM's own archives put in.
foreach(group MLIR_DIALECT_LIBS MLIR_CONVERSION_LIBS)
  get_property(libs GLOBAL PROPERTY ${group})
  list(APPEND FP8C_STATIC_MLIR_LIBS ${libs})
endforeach()
list(FILTER FP8C_STATIC_MLIR_LIBS EXCLUDE REGEX "Test")
list(APPEND FP8C_STATIC_MLIR_LIBS
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation MLIRTargetLLVMIRExport
  MLIRMlirOptMain MLIROptLib MLIRTranslateLib MLIRLspServerLib)

get_property(all GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(lib ${all} lldCommon lldELF)
  if(TARGET ${lib})
    get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
    if(links)
      list(REMOVE_ITEM links LLVM MLIR "$<LINK_ONLY:LLVM>")
      set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
  endif()
endforeach()

# Debian ships no archive of Polly, which LLVM's pass library names.
foreach(lib LLVMPasses LLVMExtensions)
  get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX "Polly")
  set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
endforeach()

llvm_map_components_to_libnames(llvm_libs
  core support passes target X86CodeGen X86AsmParser X86Desc X86Info NVPTXCodeGen NVPTXDesc NVPTXInfo linker bitreader bitwriter irreader asmparser mc option lto dtlto debuginfodwarf)
list(APPEND FP8C_STATIC_MLIR_LIBS ${llvm_libs})

# lld initialises every target that this LLVM was built with and offers Polly when it optimises bitcode. The tools give it
# objects of one target, so these do nothing.
set(text "#include <llvm/Plugins/PassPlugin.h>\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target MATCHES "^(X86|NVPTX)$")
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
      string(APPEND text "extern \"C\" void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/UnusedParts.cpp CONTENT "${text}")
add_library(fp8c_unused_parts STATIC ${CMAKE_BINARY_DIR}/UnusedParts.cpp)
target_include_directories(fp8c_unused_parts SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
list(APPEND FP8C_STATIC_MLIR_LIBS fp8c_unused_parts)
