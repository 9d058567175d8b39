# Headers, both libraries, the command, its manual page, pkg-config and CMake package files.
set(INTERIM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/interim)
set_target_properties(interim_static PROPERTIES EXPORT_NAME static)
set_target_properties(interim_engine PROPERTIES EXPORT_NAME engine)
set_target_properties(interim_engine_static PROPERTIES EXPORT_NAME engine_static)

install(DIRECTORY include/interim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS interim interim_engine interim_engine_static EXPORT interimTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS interim_static EXPORT interimStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS interim_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET interim_mpi)
  install(TARGETS interim_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS interim_fmu_host RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/interim)
install(TARGETS interim_fmu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/interim)
install(FILES docs/reference/model.schema.json docs/reference/study.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/interim)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/interim/examples FILES_MATCHING
        PATTERN "*.yaml" PATTERN "*.c" PATTERN "*.csv" PATTERN "*.mtx" PATTERN "*.urdf" PATTERN "*.py" PATTERN "*.sh")
install(FILES docs/man/interim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# find_package(interim) gives interim::interim, interim::engine and interim::engine_static (libm only); COMPONENTS static gives interim::static and finds what it needs
configure_package_config_file(cmake/interim-config.cmake.in interim-config.cmake
                              INSTALL_DESTINATION ${INTERIM_PACKAGE_DIR})
write_basic_package_version_file(interim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/interim-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/interim-config-version.cmake
        DESTINATION ${INTERIM_PACKAGE_DIR})
install(EXPORT interimTargets NAMESPACE interim:: DESTINATION ${INTERIM_PACKAGE_DIR})
install(EXPORT interimStaticTargets NAMESPACE interim:: DESTINATION ${INTERIM_PACKAGE_DIR})

# pkg-config: paths from where the file itself lies, so that the installed tree may be moved
file(RELATIVE_PATH INTERIM_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/interim.pc.in interim.pc @ONLY)
configure_file(cmake/interim-engine.pc.in interim-engine.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/interim.pc ${CMAKE_CURRENT_BINARY_DIR}/interim-engine.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
