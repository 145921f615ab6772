# SPDX-License-Identifier: BSD-3-Clause
# loom_embed(VARIABLE NAMESPACE HEADER file...): for each text file a .cpp that holds its bytes as a function
# std::string_view NAMESPACE::NAME(), declared in HEADER, NAME the file's name with _ for the point; VARIABLE gets the list of .cpp.
# Run as a script (-P) this file makes one of them. An array of numbers, and no string literal: no limit of length, no
# quoting, no character set to get wrong; and no tool but CMake.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(WRITE "${OUTPUT}" "// Made from ${NAME} by cmake/LoomEmbed.cmake.
#include \"${HEADER}\"
namespace ${NAMESPACE} {
std::string_view ${SYMBOL}() noexcept {
  static constexpr unsigned char kBytes[] = {
${bytes}};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}
}  // namespace ${NAMESPACE}
")
  return()
endif()

function(loom_embed variable namespace header)
  set(made "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" symbol ${name})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
              -DNAME=${name} -DNAMESPACE=${namespace} -DHEADER=${header} -P ${PROJECT_SOURCE_DIR}/cmake/LoomEmbed.cmake
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/LoomEmbed.cmake
      COMMENT "Embedding ${name}" VERBATIM)
    list(APPEND made ${output})
  endforeach()
  set(${variable} ${made} PARENT_SCOPE)
endfunction()
