# cmake --install: the binary, the public headers with a CMake package, the shipped documents, the man page and completions.
include(CMakePackageConfigHelpers)
set(sabath_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sabath)

install(TARGETS sabath RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/sabath DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS sabath_core EXPORT sabath ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sabath NAMESPACE sabath:: DESTINATION ${sabath_package_folder})
configure_package_config_file(src/cmake/sabathConfig.cmake.in ${CMAKE_BINARY_DIR}/sabathConfig.cmake
  INSTALL_DESTINATION ${sabath_package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sabathConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sabathConfig.cmake ${CMAKE_BINARY_DIR}/sabathConfigVersion.cmake
  DESTINATION ${sabath_package_folder})
install(DIRECTORY catalog recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/sabath)
install(DIRECTORY docs/formats docs/adding DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md LICENSE docs/ci.md docs/secrets.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The man page and the completions are printed by the program itself, so they cannot disagree with it.
set(sabath_shell_files ${CMAKE_BINARY_DIR}/sabath.1 ${CMAKE_BINARY_DIR}/sabath.bash ${CMAKE_BINARY_DIR}/_sabath
  ${CMAKE_BINARY_DIR}/sabath.fish)
add_custom_command(OUTPUT ${sabath_shell_files}
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> help --man > sabath.1
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion bash > sabath.bash
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion zsh > _sabath
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion fish > sabath.fish
  DEPENDS sabath WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_custom_target(sabath_shell ALL DEPENDS ${sabath_shell_files})
install(FILES ${CMAKE_BINARY_DIR}/sabath.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/sabath.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sabath)
install(FILES ${CMAKE_BINARY_DIR}/_sabath DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/sabath.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
