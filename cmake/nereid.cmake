# Build rules shared by every folder.
include(CheckLinkerFlag)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-designated-field-initializers -Wno-missing-field-initializers -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-gnu-zero-variadic-macro-arguments)
endif()
find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE)
  # Precompiled headers carry time stamps unless told otherwise; both settings let ccache hit through them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=1 ${NEREID_CCACHE})
endif()
find_program(NEREID_LLD NAMES ld.lld-22)
if(NEREID_LLD)
  add_link_options(-fuse-ld=${NEREID_LLD})
endif()
if(NEREID_STATIC)
  # The result needs libc and libm only. Sections that nothing reaches go, which is three quarters of LLVM; no symbol is exported.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--gc-sections,--icf=all,--exclude-libs,ALL)
endif()

# nereid_library(NAME SOURCES a.cpp … DEPS other …)            a static library of plain C++
# nereid_mlir_library(NAME SOURCES a.cpp … DEPS other …)       the same with MLIR's headers precompiled
function(nereid_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${A_DEPS})
endfunction()

function(nereid_mlir_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  nereid_library(${name} SOURCES ${A_SOURCES} DEPS ${A_DEPS} nereid_mlir)
  target_precompile_headers(${name} REUSE_FROM nereid_mlir_pch)
  add_dependencies(${name} tile_dialect_gen)
endfunction()
