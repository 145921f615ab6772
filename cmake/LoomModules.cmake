# SPDX-License-Identifier: BSD-3-Clause
# loom_module(NAME [COLD] SOURCES ... DEPS ... PRIVATE_DEPS ...): one static library a folder; COLD: see below.
# loom_isa_sources(TARGET file_cpu.cpp ...): compile each file once for every ISA level.
# loom_test(NAME SOURCES ... DEPS ... LABELS ... [THREADED FILTER]): one GoogleTest program, found by CTest; of one that has
# much else the thread sanitizer sees the cases that FILTER names.

set(FIBERLOOM_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion)
if(FIBERLOOM_WERROR)
  list(APPEND FIBERLOOM_WARNINGS -Werror)
endif()
if(FIBERLOOM_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FIBERLOOM_SANITIZE};-fno-omit-frame-pointer>")
  # With g++ these four ask at each access by pointer: three times the time to compile, twice that to run. What they
  # find the address sanitizer finds too, but for alignment: the fuzzers, which clang makes, ask for that in all parsers.
  if(FIBERLOOM_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,object-size,vptr>")
  endif()
  add_link_options(-fsanitize=${FIBERLOOM_SANITIZE})
endif()

# Files of one target are compiled several at a time: headers are read once for all of them.
function(loom_together target)
  if(FIBERLOOM_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # g++ takes every file that another one includes for a header, where this would be a fault.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")  # nvcc's parts are cut to be compiled side by side
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Code that calls others and has no loop of its own over pixels or samples: what -O3 adds there is time to compile (a third
# of the program's) and none that runs less.
set(LOOM_COLD "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")

function(loom_module name)
  cmake_parse_arguments(A "COLD" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(A_SOURCES)
    if(FIBERLOOM_CARD_LANGUAGE STREQUAL "HIP")
      loom_hip_objects(A_SOURCES)
    endif()
    add_library(${name} STATIC ${A_SOURCES})
    loom_together(${name})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} PUBLIC ${A_DEPS} PRIVATE ${A_PRIVATE_DEPS})
    target_compile_options(${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${FIBERLOOM_WARNINGS}>" $<$<BOOL:${A_COLD}>:${LOOM_COLD}>)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${A_DEPS})
  endif()
endfunction()

# The ISA levels built here: x86-64 v2, v3, v4 beside the portable body; elsewhere only the latter.
set(FIBERLOOM_ISA_LEVELS all CACHE STRING "levels of the instruction set: all, or native (this machine's best alone: a quick first build)")
set_property(CACHE FIBERLOOM_ISA_LEVELS PROPERTY STRINGS all native)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(FIBERLOOM_ISAS generic v2 v3 v4)
  if(FIBERLOOM_ISA_LEVELS STREQUAL native)
    foreach(level v4 v3 v2)
      file(WRITE ${CMAKE_BINARY_DIR}/isa/${level}.cpp
        "int main() { return __builtin_cpu_supports(\"x86-64-${level}\") ? 0 : 1; }\n")
      try_run(FIBERLOOM_RUNS_${level} FIBERLOOM_COMPILES_${level} ${CMAKE_BINARY_DIR}/isa ${CMAKE_BINARY_DIR}/isa/${level}.cpp)
      if(FIBERLOOM_COMPILES_${level} AND FIBERLOOM_RUNS_${level} EQUAL 0)
        set(FIBERLOOM_ISAS ${level})
        break()
      endif()
    endforeach()
  endif()
else()
  set(FIBERLOOM_ISAS generic)
endif()
set(LOOM_EACH_ISA "")
foreach(isa IN LISTS FIBERLOOM_ISAS)
  string(REPLACE generic Generic value ${isa})
  string(REPLACE v V value ${value})
  string(APPEND LOOM_EACH_ISA "macro(${isa}, k${value}, __VA_ARGS__) ")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/../src/loom/simd/built_isas.hpp.in ${CMAKE_BINARY_DIR}/generated/loom/simd/built_isas.hpp @ONLY)
# g++ that looks for its own garbage only beyond 256 MB takes a tenth less time, and up to a fifth more memory.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=262144>")
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

# loom_device_kernels(LIST NAME): the bodies of a table of kernels: NAME_cuda.cu where nvcc compiles it, NAME_emulated.cpp
# where there is emulation, else stubs that say that they are not there, no_cuda_NAME.cpp and no_emulated_NAME.cpp.
# FIBERLOOM_FUSED_EMULATION: emulated bodies fuse multiply-adds as nvcc does (not the default: tests of theirs compare bits
# with the CPU's texts, and a processor without FMA could not run them).
function(loom_device_kernels list name)
  if(FIBERLOOM_HAVE_CUDA)
    set(bodies ${name}_cuda.cu)
  else()
    set(bodies no_cuda_${name}.cpp)
  endif()
  if(FIBERLOOM_EMULATION)
    list(APPEND bodies ${name}_emulated.cpp)
    if(FIBERLOOM_FUSED_EMULATION)
      set_source_files_properties(${name}_emulated.cpp PROPERTIES COMPILE_OPTIONS "-mfma;-ffp-contract=fast")
    endif()
  else()
    list(APPEND bodies no_emulated_${name}.cpp)
  endif()
  set(${list} ${bodies} PARENT_SCOPE)
endfunction()

# loom_room_sources(LIST ROOM ...): the files of rooms (as loom/files) by their full paths, and the objects of their kernels,
# for targets that compile them once more (fuzzers).
function(loom_room_sources list)
  set(sources)
  foreach(room IN LISTS ARGN)
    string(REPLACE "/" "_" target ${room})
    get_target_property(files ${target} SOURCES)
    list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/src/${room}/ REGEX "^[^$]")
    list(APPEND sources ${files})
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

function(loom_test name)
  if(NOT FIBERLOOM_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "TIMEOUT;THREADED" "SOURCES;DEPS;LABELS" ${ARGN})
  set(cases)
  if(A_THREADED AND FIBERLOOM_SANITIZE MATCHES "thread")
    set(cases --gtest_filter=${A_THREADED})
  endif()
  add_executable(${name} ${A_SOURCES})
  loom_together(${name})
  target_link_libraries(${name} PRIVATE ${A_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FIBERLOOM_WARNINGS} ${LOOM_COLD})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${cases})
  # a folder of its own: two checkouts may be tested at the same time
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/test-files)
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT}
    ENVIRONMENT TEST_TMPDIR=${CMAKE_BINARY_DIR}/test-files)
endfunction()
