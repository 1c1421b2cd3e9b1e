# cpack: the package for Debian of the system that the build runs on. src/package/package.sh sets SOURCE_DATE_EPOCH and the flags.
set(sabath_system "")
if(EXISTS /etc/os-release)
  foreach(key ID VERSION_ID)
    file(STRINGS /etc/os-release value REGEX "^${key}=")
    string(REGEX REPLACE "^[^=]*=|\"" "" value "${value}")
    string(APPEND sabath_system "${value}")  # debian12
  endforeach()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sabath)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION}+${sabath_system})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/src/package/DebianFiles.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_NAME sabath)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{SABATH_MAINTAINER}")
if(NOT CPACK_DEBIAN_PACKAGE_MAINTAINER)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "unknown <root@localhost>")
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "sabath fetches data and models, builds environments, runs benchmarks of
surrogate models, and says with numbers whether two runs agree.
.
It runs on a workstation, in CI, and as jobs of Slurm, PBS, LSF, Flux or
Grid Engine. It needs no service and no Python of its own.")
# What the program starts. Recommended: most shipped recipes and sources need it. Suggested: a recipe, a source or a site does.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, git, python3-venv")
string(CONCAT CPACK_DEBIAN_PACKAGE_SUGGESTS "aria2, cmake, curl, environment-modules | lmod, g++, git-lfs, "
  "globus-gass-copy-progs, hdf5-tools, libhdf5-dev, make, openssh-client, patch, podman, python3-pip, rsync, skopeo, slurm-client, "
  "squashfs-tools, wget")
include(CPack)
