# Headers, both libraries, the command, pkg-config and CMake package files.
install(DIRECTORY include/interim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS interim interim_static EXPORT interimTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS interim_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
