# LLVM and MLIR 22 as one interface target, nereid_mlir: shared libraries for development, archives with NEREID_STATIC.
if(NEREID_STATIC)
  # LLVM's archives ask for these targets by name; giving them the archives here keeps the shared libraries out of the link.
  find_library(NEREID_ZSTD_ARCHIVE libzstd.a REQUIRED)
  find_library(NEREID_Z_ARCHIVE libz.a REQUIRED)
  foreach(pair zstd::libzstd_shared=${NEREID_ZSTD_ARCHIVE} ZLIB::ZLIB=${NEREID_Z_ARCHIVE})
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 archive)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${archive})
  endforeach()
endif()
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(CMAKE_MODULE_PATH ${CMAKE_MODULE_PATH} PARENT_SCOPE)
set(MLIR_TABLEGEN_EXE ${MLIR_TABLEGEN_EXE} PARENT_SCOPE)
set(MLIR_INCLUDE_DIRS ${MLIR_INCLUDE_DIRS} PARENT_SCOPE)
set(LLVM_TOOLS_BINARY_DIR ${LLVM_TOOLS_BINARY_DIR} PARENT_SCOPE)

add_library(nereid_mlir INTERFACE)
target_include_directories(nereid_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(nereid_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
if(NEREID_STATIC)
  # Debian's MLIR targets name libLLVM.so; mixed with the archives, options would register twice.
  foreach(lib IN LISTS MLIR_EXPORTED_TARGETS)
    get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
    if(deps)
      list(FILTER deps EXCLUDE REGEX "^LLVM$|^.<LINK_ONLY:LLVM>$")
      set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
    endif()
  endforeach()
  # The solver Z3 serves Clang's analyser only.
  get_target_property(deps LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(FILTER deps EXCLUDE REGEX "libz3")
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
  llvm_map_components_to_libnames(NEREID_LLVM_LIBS core support passes nvptxcodegen nvptxdesc nvptxinfo x86codegen x86asmparser
    x86desc x86info orcjit jitlink target targetparser transformutils ipo linker irreader bitwriter perfjitevents)
  target_link_libraries(nereid_mlir INTERFACE
    MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRSupport MLIRFuncDialect MLIRArithDialect MLIRMathDialect MLIRSCFDialect
    MLIRControlFlowDialect MLIRVectorDialect MLIRMemRefDialect MLIRTensorDialect MLIRLinalgDialect MLIRLinalgTransforms MLIRLLVMDialect
    MLIRNVVMDialect MLIRGPUDialect MLIRUBDialect MLIRArithToLLVM MLIRMathToLLVM MLIRMathToLibm MLIRFuncToLLVM MLIRSCFToControlFlow
    MLIRControlFlowToLLVM MLIRVectorToLLVMPass MLIRVectorToSCF MLIRMemRefToLLVM MLIRMemRefTransforms MLIRNVVMToLLVM
    MLIRReconcileUnrealizedCasts MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation
    MLIRToLLVMIRTranslationRegistration MLIRTargetLLVMIRExport MLIROptLib MLIRArithTransforms MLIRBufferizationDialect
    MLIRBufferizationTransforms MLIRLinalgToStandard MLIRSCFTransforms MLIRTensorTransforms MLIRArithUtils MLIRUBToLLVM
    MLIRAffineDialect MLIRAffineToStandard MLIRIndexToLLVM ${NEREID_LLVM_LIBS})
else()
  target_link_libraries(nereid_mlir INTERFACE MLIR LLVM)
endif()
