# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` and CPack put where: the program with its manual page and completions, and the library as
# one archive libfiberloom.a with headers, a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- the texts of a program, made by itself
function(fiberloom_install_texts program component)
  set(texts ${PROJECT_BINARY_DIR}/texts)
  add_custom_command(OUTPUT ${texts}/${program}.1
    COMMAND ${CMAKE_COMMAND} -E make_directory ${texts}
    COMMAND ${program} manual > ${texts}/${program}.1
    COMMAND ${program} completion bash > ${texts}/${program}.bash
    COMMAND ${program} completion zsh > ${texts}/_${program}
    COMMAND ${program} completion fish > ${texts}/${program}.fish
    DEPENDS ${program} COMMENT "Manual page and completions of ${program}" VERBATIM)
  add_custom_target(${program}_texts ALL DEPENDS ${texts}/${program}.1)
  install(FILES ${texts}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${texts}/${program}.bash RENAME ${program}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${texts}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
  install(FILES ${texts}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT ${component})
endfunction()

set(program_component_of_fiberloom program)
set(program_component_of_tomoloom tomoloom)
set(program_component_of_skyloom skyloom)
foreach(program IN LISTS FIBERLOOM_PROGRAMS)
  set(component ${program_component_of_${program}})
  if(NOT CMAKE_CROSSCOMPILING AND NOT FIBERLOOM_SANITIZE)
    fiberloom_install_texts(${program} ${component})
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${program})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# --- the library
set(FIBERLOOM_MODULES fiberloom_recipes fiberloom_frame_recipes fiberloom_catalogue fiberloom_formats fiberloom_templates fiberloom_redshift_gpu fiberloom_redshift fiberloom_truth fiberloom_simulate fiberloom_astro fiberloom_extract_patch
    fiberloom_gpu_engine fiberloom_extract fiberloom_calibrate fiberloom_spectrum fiberloom_ccd fiberloom_psf loom_batch loom_json loom_page loom_options loom_db loom_http loom_hdf5 loom_fits loom_files
    loom_runtime loom_linalg loom_device loom_simd loom_trace loom_base)
if(NOT FIBERLOOM_ORACLE)
  list(APPEND FIBERLOOM_MODULES fiberloom_no_patch)
endif()

# How a user of the archive finds what it links: "target|line of fiberloomConfig.cmake|pkg-config name". Header-only
# libraries of the sources need not be there.
set(known
  "PkgConfig::CFITSIO|pkg_check_modules(CFITSIO REQUIRED QUIET IMPORTED_TARGET cfitsio)|cfitsio"
  "PkgConfig::DEFLATE|pkg_check_modules(DEFLATE REQUIRED QUIET IMPORTED_TARGET libdeflate)|libdeflate"
  "PkgConfig::ERFA|pkg_check_modules(ERFA REQUIRED QUIET IMPORTED_TARGET erfa)|erfa"
  "PkgConfig::TOMLPP|pkg_check_modules(TOMLPP REQUIRED QUIET IMPORTED_TARGET tomlplusplus)|tomlplusplus"
  "PkgConfig::HDF5|pkg_check_modules(HDF5 REQUIRED QUIET IMPORTED_TARGET hdf5)|hdf5"
  "PkgConfig::PQ|pkg_check_modules(PQ REQUIRED QUIET IMPORTED_TARGET libpq)|libpq"
  "SQLite::SQLite3|find_dependency(SQLite3)|sqlite3"
  "Threads::Threads|find_dependency(Threads)|"
  "CUDA::cudart_static|find_dependency(CUDAToolkit)|"
  "CUDA::cudart|find_dependency(CUDAToolkit)|"
  "Eigen3::Eigen||" "nlohmann_json::nlohmann_json||" "CLI11::CLI11||")

# fiberloom_describe_dependency(NAME CONFIG_LINE PC_NAME HEADER_ONLY)
function(fiberloom_describe_dependency name line pc links)
  foreach(entry IN LISTS known)
    string(REPLACE "|" ";" fields "${entry}")
    list(GET fields 0 target)
    if(target STREQUAL name)
      list(GET fields 1 found_line)
      list(GET fields 2 found_pc)
      set(${line} "${found_line}" PARENT_SCOPE)
      set(${pc} "${found_pc}" PARENT_SCOPE)
      set(${links} ON PARENT_SCOPE)
      if(found_line STREQUAL "")
        set(${links} OFF PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
  message(WARNING "cmake/FiberloomInstall.cmake does not say how a user of the library finds ${name}")
  set(${links} OFF PARENT_SCOPE)
endfunction()

set(FIBERLOOM_WITH_LIBRARY OFF)
if(FIBERLOOM_INSTALL_LIBRARY AND NOT FIBERLOOM_SANITIZE AND "fiberloom" IN_LIST FIBERLOOM_PROGRAMS)
  set(FIBERLOOM_WITH_LIBRARY ON)
  set(archives "")
  set(external "")
  foreach(module IN LISTS FIBERLOOM_MODULES)
    if(NOT TARGET ${module})
      continue()
    endif()
    get_target_property(type ${module} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    list(APPEND archives ${module})
    get_target_property(links ${module} LINK_LIBRARIES)
    foreach(link IN LISTS links)
      if(link MATCHES "::")
        list(APPEND external ${link})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES external)

  set(FIBERLOOM_FIND "")
  set(FIBERLOOM_PC_REQUIRES "")
  set(linked "")
  foreach(name IN LISTS external)
    fiberloom_describe_dependency(${name} line pc links)
    if(links)
      list(APPEND linked ${name})
      string(APPEND FIBERLOOM_FIND "${line}\n")
      string(APPEND FIBERLOOM_PC_REQUIRES " ${pc}")
    endif()
  endforeach()

  # one archive of all modules' archives
  set(merged ${PROJECT_BINARY_DIR}/lib/libfiberloom.a)
  set(script "CREATE libfiberloom.a\n")
  set(files "")
  foreach(archive IN LISTS archives)
    string(APPEND script "ADDLIB $<TARGET_FILE:${archive}>\n")
    list(APPEND files $<TARGET_FILE:${archive}>)
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/lib/merge.mri CONTENT "${script}SAVE\nEND\n")
  add_custom_command(OUTPUT ${merged}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${merged}
    COMMAND ${CMAKE_AR} -M < ${PROJECT_BINARY_DIR}/lib/merge.mri
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/lib DEPENDS ${archives} ${files}
    COMMENT "libfiberloom.a" VERBATIM)
  add_custom_target(fiberloom_archive ALL DEPENDS ${merged})

  # The exported target is written by hand: CMake exports no archive that it has not linked itself.
  list(JOIN linked " " FIBERLOOM_LINKED)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fiberloomConfig.cmake.in
    ${PROJECT_BINARY_DIR}/lib/fiberloomConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fiberloom
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/lib/fiberloomConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  file(RELATIVE_PATH FIBERLOOM_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the tree may be moved
  configure_file(${PROJECT_SOURCE_DIR}/cmake/fiberloom.pc.in ${PROJECT_BINARY_DIR}/lib/fiberloom.pc @ONLY)

  install(FILES ${merged} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/lib/fiberloomConfig.cmake ${PROJECT_BINARY_DIR}/lib/fiberloomConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fiberloom COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/lib/fiberloom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/loom ${PROJECT_SOURCE_DIR}/src/fiberloom ${PROJECT_BINARY_DIR}/generated/fiberloom
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE PATTERN "*test*" EXCLUDE PATTERN "*_lane.hpp" EXCLUDE PATTERN "isa_tables.hpp" EXCLUDE
    PATTERN "*_library.hpp" EXCLUDE)  # those that include a library which users of the headers need not have
endif()

# --- packages: fiberloom, tomoloom, skyloom and libfiberloom-dev
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fiberloom)
set(CPACK_PACKAGE_VENDOR "Fiberloom developers")
set(CPACK_PACKAGE_CONTACT "Fiberloom developers <fiberloom@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Turns the CCD frames of a multi-fibre spectrograph into 1-D spectra through a 2-D
model of the PSF. Reads and writes the files of the DESI pipeline.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL "")
foreach(program IN LISTS FIBERLOOM_PROGRAMS)
  list(APPEND CPACK_COMPONENTS_ALL ${program_component_of_${program}})
endforeach()
if(FIBERLOOM_WITH_LIBRARY)
  list(APPEND CPACK_COMPONENTS_ALL development)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME fiberloom)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOMOLOOM_PACKAGE_NAME tomoloom)
set(CPACK_DEBIAN_TOMOLOOM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_TOMOLOOM_DESCRIPTION "X-ray tomography: turns parallel-beam scans (Data Exchange) into volumes.")
set(CPACK_DEBIAN_SKYLOOM_PACKAGE_NAME skyloom)
set(CPACK_DEBIAN_SKYLOOM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_SKYLOOM_DESCRIPTION "Simulates and maps the time-ordered data of CMB telescopes.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfiberloom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libcfitsio-dev, libdeflate-dev, liberfa-dev, libsqlite3-dev, libtomlplusplus-dev, libpq-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Library, headers, CMake package and pkg-config file of Fiberloom.")
include(CPack)
