# SPDX-License-Identifier: BSD-3-Clause
# fiberloom_embed(VARIABLE file...): for each text file a .cpp that holds its bytes as a function
# std::string_view fiberloom::page::NAME(), NAME the file's name with _ for the point; VARIABLE gets the list of .cpp.
# Run as a script (-P) this file makes one of them. An array of numbers, and no string literal: no limit of length, no
# quoting, no character set to get wrong; and no tool but CMake.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(WRITE "${OUTPUT}" "// Made from ${NAME} by cmake/FiberloomEmbed.cmake.
#include \"fiberloom/pipeline/page/embedded.hpp\"
namespace fiberloom::page {
namespace {
constexpr unsigned char kBytes[] = {
${bytes}};
}
std::string_view ${SYMBOL}() noexcept { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes}; }
}  // namespace fiberloom::page
")
  return()
endif()

function(fiberloom_embed variable)
  set(made "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" symbol ${name})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
              -DNAME=${name} -P ${PROJECT_SOURCE_DIR}/cmake/FiberloomEmbed.cmake
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/FiberloomEmbed.cmake
      COMMENT "Embedding ${name}" VERBATIM)
    list(APPEND made ${output})
  endforeach()
  set(${variable} ${made} PARENT_SCOPE)
endfunction()
