# cmake --install: the binary, the shipped documents, the man page and completions, and what other codes compile: one header and
# one source of Fortran.
install(TARGETS sabath RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY catalog recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/sabath USE_SOURCE_PERMISSIONS)
install(FILES include/sabath_log.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES src/fortran/sabath_log.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/sabath/fortran)
install(DIRECTORY docs/formats docs/adding docs/how-to docs/explanation DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md LICENSE CHANGELOG.md docs/ci.md docs/secrets.md docs/glossary.md docs/tutorial.md docs/supercell.md docs/python.md
  docs/logging.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The man page and the completions are printed by the program itself, so they cannot disagree with it.
set(sabath_shell_files ${CMAKE_BINARY_DIR}/sabath.1 ${CMAKE_BINARY_DIR}/sabath.bash ${CMAKE_BINARY_DIR}/_sabath
  ${CMAKE_BINARY_DIR}/sabath.fish)
add_custom_command(OUTPUT ${sabath_shell_files}
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> help --man > sabath.1
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion bash > sabath.bash
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion zsh > _sabath
  COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> completion fish > sabath.fish
  DEPENDS sabath WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
# sabath-TOPIC(7): a page for each topic of `sabath help`.
get_property(sabath_topics GLOBAL PROPERTY sabath_topic_names)
set(sabath_topic_pages "")
foreach(topic IN LISTS sabath_topics)
  set(page ${CMAKE_BINARY_DIR}/man7/sabath-${topic}.7)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E env SABATH_HOME=${CMAKE_BINARY_DIR}/no-home $<TARGET_FILE:sabath> help ${topic} --man > ${page}
    DEPENDS sabath VERBATIM)
  list(APPEND sabath_topic_pages ${page})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man7)
add_custom_target(sabath_shell ALL DEPENDS ${sabath_shell_files} ${sabath_topic_pages})
install(FILES ${sabath_topic_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES ${CMAKE_BINARY_DIR}/sabath.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/sabath.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sabath)
install(FILES ${CMAKE_BINARY_DIR}/_sabath DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_BINARY_DIR}/sabath.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
