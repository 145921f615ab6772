# SPDX-License-Identifier: BSD-3-Clause
# sister_tests(PROGRAM SHORT TEST...): end-to-end tests that drive a built program, its own ones (PROGRAM/TEST.py below
# tests/) and those of its command line and its pages. Python's standard library is all they need.
find_package(Python3 COMPONENTS Interpreter)
# For programs under the address sanitizer: libhdf5 1.10 keeps what it could not write to a full disk.
set(LOOM_LEAKS_OF_OTHERS
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_others.txt:print_suppressions=0")
# Of tests that drive a program under a sanitizer, which keeps what was freed, and takes more time: behind other variables.
set(LOOM_SLOWER "")
if(FIBERLOOM_SANITIZE)
  set(LOOM_SLOWER ";FIBERLOOM_TEST_SLOWER=1;${LOOM_LEAKS_OF_OTHERS}")
endif()
function(sister_tests program short)
  if(NOT Python3_FOUND OR NOT HDF5_FOUND)
    return()
  endif()
  set(here ${PROJECT_SOURCE_DIR}/tests)
  foreach(test sister/test_command_line sister/test_docs ${ARGN})
    get_filename_component(name ${test} NAME)
    string(REGEX REPLACE "^test_" "${short}_cli_" name ${name})
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${here}/${test}.py)
    set_tests_properties(${name} PROPERTIES LABELS cli TIMEOUT 600
      ENVIRONMENT "SISTER_PROGRAM=$<TARGET_FILE:${program}>;FIBERLOOM_SOURCE=${PROJECT_SOURCE_DIR};PYTHONPATH=${here}/sister${LOOM_SLOWER}")
  endforeach()
  set_tests_properties(${short}_cli_docs PROPERTIES LABELS docs)
endfunction()
