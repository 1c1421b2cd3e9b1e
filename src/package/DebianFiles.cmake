# Run by cpack between installation and packing: what Debian expects of a package's files.
# SOURCE_DATE_EPOCH in the environment is the time of each file.
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(docs ${root}/usr/share/doc/sabath)

# The licence stands in the file `copyright`, as in each package.
file(READ ${docs}/LICENSE licence)
file(REMOVE ${docs}/LICENSE)
string(REGEX REPLACE "^[^\n]*\n\n[^\n]*\n\n" "" licence "${licence}")
string(REGEX REPLACE "\n+$" "" licence "${licence}")
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
file(WRITE ${docs}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: sabath

Files: *
Copyright: 2026, the sabath developers
License: BSD-3-Clause
 ${licence}
")

set(maintainer "${CPACK_DEBIAN_PACKAGE_MAINTAINER}")
execute_process(COMMAND date -u -R -d @$ENV{SOURCE_DATE_EPOCH} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${docs}/changelog "sabath (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Changes of each version: /usr/share/doc/sabath/CHANGELOG.md.gz

 -- ${maintainer}  ${date}
")

# Debian's zsh looks here; others in site-functions.
file(MAKE_DIRECTORY ${root}/usr/share/zsh/vendor-completions)
file(RENAME ${root}/usr/share/zsh/site-functions/_sabath ${root}/usr/share/zsh/vendor-completions/_sabath)
file(REMOVE_RECURSE ${root}/usr/share/zsh/site-functions)

file(GLOB_RECURSE packed ${root}/usr/share/man/*)
execute_process(COMMAND gzip -9nf ${packed} ${docs}/changelog ${docs}/CHANGELOG.md COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND chmod -R u=rwX,go=rX ${root}/usr COMMAND_ERROR_IS_FATAL ANY)
# Recipes start Python by its name: the package does not depend on one.
execute_process(COMMAND find ${root}/usr/share/sabath -name *.py -exec chmod a-x {} + COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${root} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
