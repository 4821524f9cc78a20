# Rules that register tests. Every test has a label (unit, lit, kernels, examples, fault, repo, gpu) for `scripts/test -L LABEL`.

# nereid_unit_test(NAME SOURCES a.cpp … DEPS lib … [MLIR] [WORKING_DIRECTORY dir])
# One doctest program of one stem. MLIR: its sources get MLIR's headers precompiled.
function(nereid_unit_test name)
  cmake_parse_arguments(A "MLIR" "WORKING_DIRECTORY" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:nereid_doctest_main>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${NEREID_DOCTEST_INCLUDE})
  target_link_libraries(${name} PRIVATE ${A_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  if(A_MLIR)
    target_link_libraries(${name} PRIVATE nereid_mlir)
    target_precompile_headers(${name} REUSE_FROM nereid_mlir_pch)
    add_dependencies(${name} tile_dialect_gen)
  endif()
  if(NOT A_WORKING_DIRECTORY)
    set(A_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY ${A_WORKING_DIRECTORY})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# nereid_python_test(NAME SCRIPT file.py [ARGS …] LABEL label [TIMEOUT s])
# A driver that exits 77 is reported as skipped; it prints the reason.
function(nereid_python_test name)
  cmake_parse_arguments(A "" "SCRIPT;LABEL;TIMEOUT" "ARGS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${NEREID_PYTHON} ${A_SCRIPT} ${A_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS ${A_LABEL} TIMEOUT ${A_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "NEREID_BIN=${PROJECT_BINARY_DIR}/bin/nereid;PYTHONDONTWRITEBYTECODE=1")
endfunction()
