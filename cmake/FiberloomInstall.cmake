# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` and CPack put where: the program with its manual page and completions, and the library as
# one archive libfiberloom.a with headers, a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- the program's texts, made by itself
set(texts ${PROJECT_BINARY_DIR}/texts)
if(NOT CMAKE_CROSSCOMPILING AND NOT FIBERLOOM_SANITIZE)
  add_custom_command(OUTPUT ${texts}/fiberloom.1
    COMMAND ${CMAKE_COMMAND} -E make_directory ${texts}
    COMMAND fiberloom manual > ${texts}/fiberloom.1
    COMMAND fiberloom completion bash > ${texts}/fiberloom.bash
    COMMAND fiberloom completion zsh > ${texts}/_fiberloom
    COMMAND fiberloom completion fish > ${texts}/fiberloom.fish
    DEPENDS fiberloom COMMENT "Manual page and completions" VERBATIM)
  add_custom_target(fiberloom_texts ALL DEPENDS ${texts}/fiberloom.1)
  install(FILES ${texts}/fiberloom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${texts}/fiberloom.bash RENAME fiberloom
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${texts}/_fiberloom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${texts}/fiberloom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# --- the library
set(FIBERLOOM_MODULES fiberloom_recipes fiberloom_formats fiberloom_templates fiberloom_redshift fiberloom_simulate fiberloom_astro fiberloom_extract_patch
    fiberloom_gpu_engine fiberloom_extract fiberloom_calibrate fiberloom_spectrum fiberloom_ccd fiberloom_psf loom_batch loom_json loom_page loom_hdf5 loom_fits loom_files
    loom_runtime loom_linalg loom_device loom_simd loom_trace loom_base)

# How a user of the archive finds what it links: "target|line of fiberloomConfig.cmake|pkg-config name". Header-only
# libraries of the sources need not be there.
set(known
  "PkgConfig::CFITSIO|pkg_check_modules(CFITSIO REQUIRED QUIET IMPORTED_TARGET cfitsio)|cfitsio"
  "PkgConfig::DEFLATE|pkg_check_modules(DEFLATE REQUIRED QUIET IMPORTED_TARGET libdeflate)|libdeflate"
  "PkgConfig::ERFA|pkg_check_modules(ERFA REQUIRED QUIET IMPORTED_TARGET erfa)|erfa"
  "PkgConfig::TOMLPP|pkg_check_modules(TOMLPP REQUIRED QUIET IMPORTED_TARGET tomlplusplus)|tomlplusplus"
  "PkgConfig::HDF5|pkg_check_modules(HDF5 REQUIRED QUIET IMPORTED_TARGET hdf5)|hdf5"
  "SQLite::SQLite3|find_dependency(SQLite3)|sqlite3"
  "TBB::tbb|find_dependency(TBB)|tbb"
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

if(FIBERLOOM_INSTALL_LIBRARY AND NOT FIBERLOOM_SANITIZE)
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
    FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE PATTERN "*test*" EXCLUDE PATTERN "*_lane.hpp" EXCLUDE PATTERN "isa_tables.hpp" EXCLUDE)
endif()

# --- packages: fiberloom and libfiberloom-dev
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
set(CPACK_COMPONENTS_ALL program)
if(FIBERLOOM_INSTALL_LIBRARY AND NOT FIBERLOOM_SANITIZE)
  list(APPEND CPACK_COMPONENTS_ALL development)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME fiberloom)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfiberloom-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libcfitsio-dev, libdeflate-dev, liberfa-dev, libtbb-dev, libsqlite3-dev, libtomlplusplus-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Library, headers, CMake package and pkg-config file of Fiberloom.")
include(CPack)
