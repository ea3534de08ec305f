# install() and the package files for find_package(halfulp).
include(CMakePackageConfigHelpers)

get_property(installed GLOBAL PROPERTY HALFULP_INSTALL)
install(TARGETS ${installed} EXPORT halfulpTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder formats reference vectors)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/halfulp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "detail" EXCLUDE)
endforeach()
install(EXPORT halfulpTargets NAMESPACE halfulp:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halfulp)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/halfulpConfig.cmake.in
  ${PROJECT_BINARY_DIR}/halfulpConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halfulp)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halfulpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/halfulpConfig.cmake ${PROJECT_BINARY_DIR}/halfulpConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/halfulp)
