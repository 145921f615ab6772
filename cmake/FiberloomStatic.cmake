# SPDX-License-Identifier: BSD-3-Clause
# FIBERLOOM_STATIC: a program that needs nothing but the C library, to be copied to any Linux of the same
# processor family. Archives take the place of the shared libraries found.
function(fiberloom_link_archives target)
  if(NOT TARGET ${target})
    return()
  endif()
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(FIBERLOOM_ARCHIVE_${name} NAMES lib${name}.a)
    if(NOT FIBERLOOM_ARCHIVE_${name})
      message(FATAL_ERROR "FIBERLOOM_STATIC: no lib${name}.a here (for ${target})")
    endif()
    mark_as_advanced(FIBERLOOM_ARCHIVE_${name})
    list(APPEND archives ${FIBERLOOM_ARCHIVE_${name}})
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
  get_target_property(location ${target} IMPORTED_LOCATION)
  if(location AND archives)
    list(GET archives 0 first)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${first})
  endif()
endfunction()

# Debian's libcfitsio.a can read from the web and wants libcurl for it, of which there is no archive. This program
# opens plain files only (fits_open_diskfile), so six functions that refuse stand in for it.
add_library(fiberloom_no_curl STATIC ${PROJECT_SOURCE_DIR}/cmake/no_curl.cpp)
fiberloom_link_archives(PkgConfig::CFITSIO cfitsio z bz2)
set_property(TARGET PkgConfig::CFITSIO APPEND PROPERTY INTERFACE_LINK_LIBRARIES fiberloom_no_curl)
fiberloom_link_archives(PkgConfig::DEFLATE deflate)
fiberloom_link_archives(PkgConfig::ERFA erfa)
fiberloom_link_archives(SQLite::SQLite3 sqlite3)
if(TARGET PkgConfig::TOMLPP)  # header-only as well as a library
  set_target_properties(PkgConfig::TOMLPP PROPERTIES INTERFACE_LINK_LIBRARIES "" INTERFACE_COMPILE_OPTIONS "")
endif()
add_link_options(-static-libstdc++ -static-libgcc)
