# SPDX-License-Identifier: BSD-3-Clause
# cmake -DFOLDER=samples -DGOLDEN=checksums.txt -P check_bytes.cmake: SHA-256 of each file listed.
# A difference means that users' files change: intended ones go to the CHANGELOG with new checksums.
file(STRINGS ${GOLDEN} lines)
foreach(line IN LISTS lines)
  string(REPLACE "  " ";" parts "${line}")
  list(GET parts 0 expected)
  list(GET parts 1 name)
  file(SHA256 ${FOLDER}/${name} found)
  if(NOT found STREQUAL expected)
    message(SEND_ERROR "${name}: SHA-256 ${found}, expected ${expected}")
  endif()
endforeach()
