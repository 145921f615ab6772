# SPDX-License-Identifier: BSD-3-Clause
# loom_module(NAME SOURCES ... DEPS ... PRIVATE_DEPS ...): one static library a folder.
# loom_isa_sources(TARGET file_cpu.cpp ...): compile each file once for every ISA level.
# loom_test(NAME SOURCES ... DEPS ... LABELS ...): one GoogleTest program, found by CTest.

set(FIBERLOOM_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion)
if(FIBERLOOM_WERROR)
  list(APPEND FIBERLOOM_WARNINGS -Werror)
endif()
if(FIBERLOOM_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FIBERLOOM_SANITIZE};-fno-omit-frame-pointer;-g>")
  add_link_options(-fsanitize=${FIBERLOOM_SANITIZE})
endif()

function(loom_module name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(A_SOURCES)
    add_library(${name} STATIC ${A_SOURCES})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} PUBLIC ${A_DEPS} PRIVATE ${A_PRIVATE_DEPS})
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${FIBERLOOM_WARNINGS}>")
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${A_DEPS})
  endif()
endfunction()

# The ISA levels built here: x86-64 v2, v3, v4 beside the portable body; elsewhere only the latter.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(FIBERLOOM_ISAS generic v2 v3 v4)
else()
  set(FIBERLOOM_ISAS generic)
endif()
# Decisions (a spot's corner) must not depend on the machine: only the kernels may fuse multiply and add.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
set(FIBERLOOM_ISA_FLAGS_generic "")
set(FIBERLOOM_ISA_FLAGS_v2 -march=x86-64-v2)
set(FIBERLOOM_ISA_FLAGS_v3 -march=x86-64-v3 -ffp-contract=fast)
set(FIBERLOOM_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512 -ffp-contract=fast)

function(loom_isa_sources target)
  foreach(isa IN LISTS FIBERLOOM_ISAS)
    set(objects ${target}_${isa})
    add_library(${objects} OBJECT ${ARGN})
    target_include_directories(${objects} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${objects} PRIVATE FIBERLOOM_ISA_NS=isa_${isa} FIBERLOOM_ISA_${isa}=1)
    target_compile_options(${objects} PRIVATE ${FIBERLOOM_ISA_FLAGS_${isa}} ${FIBERLOOM_WARNINGS}
                           -fno-math-errno -fno-trapping-math -Wno-psabi)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

function(loom_test name)
  if(NOT FIBERLOOM_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FIBERLOOM_WARNINGS})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # a folder of its own: two checkouts may be tested at the same time
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/test-files)
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT}
    ENVIRONMENT TEST_TMPDIR=${CMAKE_BINARY_DIR}/test-files)
endfunction()
