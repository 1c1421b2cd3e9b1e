#!/usr/bin/env bash
# sabath from a fresh clone: ./bootstrap.sh demo | test | build | package | site
#   demo   build, then show the whole story on real input
#   test   build the program as it is installed, and run every test of the modules and of the program
#   build  just build: build/user/bin/sabath
#   package [deb | tarball | wheel | pure | sbom | sums]...  packages of this commit, in build/package (docs/install.md)
#   site   make the pages of docs into build/site/index.html; its generator comes from PyPI once
# Missing distribution packages are installed as root or through sudo; otherwise the line to run is printed (exit 13).
# A second call is quick and needs no network.
set -euo pipefail
umask 022 # what a group can write is not trusted later
cd "$(dirname "${BASH_SOURCE[0]}")"

debian_packages=(g++ cmake make ninja-build ccache pkg-config libcurl4-openssl-dev libssl-dev libsqlite3-dev libsqlitecpp-dev
  libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev libhdf5-dev libarchive-dev zlib1g-dev libhwloc-dev libboost-dev libxxhash-dev
  rapidjson-dev libpcre2-dev libyaml-cpp-dev)
debian_test_packages=(catch2 libcpp-httplib-dev hdf5-tools gfortran openssl git python3 man-db clang-format-14 clang-tidy-14
  python3-venv mold curl wget aria2 rsync openssh-client openssh-server git-lfs globus-gass-copy-progs globus-gridftp-server-progs
  nginx lmod tcl openmpi-bin libopenmpi-dev autoconf automake podman runc skopeo catatonit busybox-static squashfs-tools
  slurmctld slurmd slurm-client slurmdbd munge mariadb-server-core mariadb-client-core libjemalloc2 chromium)
debian_package_packages=(dpkg-dev file git python3)
fedora_packages=(gcc-c++ cmake make ninja-build ccache pkgconf libcurl-devel openssl-devel sqlite-devel sqlitecpp-devel
  cli11-devel json-devel spdlog-devel fmt-devel hdf5-devel libarchive-devel zlib-devel hwloc-devel boost-devel xxhash-devel rapidjson-devel pcre2-devel yaml-cpp-devel)
fedora_test_packages=(catch-devel cpp-httplib-devel gcc-gfortran openssl git python3 man-db clang-tools-extra
  mold curl wget aria2 rsync openssh-clients openssh-server git-lfs globus-gass-copy-progs globus-gridftp-server-progs nginx Lmod environment-modules
  openmpi-devel autoconf automake squashfs-tools slurm slurm-slurmctld slurm-slurmd slurm-slurmdbd munge mariadb-server chromium)

say() { printf '\n== %s\n' "$*"; }

# as_root LINE: runs a shell line as root, or prints it.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    sh -c "$1"
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
    sudo sh -c "$1"
  else
    printf 'bootstrap: packages are missing; as root, run:\n  %s\n' "$1" >&2
    exit 13
  fi
}

# The tests start servers of their own: none is started as a service because its package is installed, and those that would
# start at the next boot, nginx on port 80, do not.
without_services() {
  local policy=/usr/sbin/policy-rc.d service
  printf '%s' "[ -e $policy ] || { trap 'rm -f $policy' EXIT; trap 'exit 130' HUP INT TERM; printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy; }; $1"
  for service in nginx munge slurmctld slurmd slurmdbd; do
    [[ "$1 " != *" $service "* ]] || printf '%s' " && { systemctl disable -q $service 2>/dev/null || true; }"
  done
}

install_debian() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  local line="apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ${missing[*]}"
  as_root "$(without_services "$line")"
}

install_fedora() {
  local missing=() package
  for package in "$@"; do
    rpm -q --quiet "$package" || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  as_root "dnf install -y ${missing[*]}"
}

# install_packages [test | package]: what a build needs, and the tests or the packages.
install_packages() {
  if command -v dpkg-query >/dev/null; then
    install_debian "${debian_packages[@]}"
    [ "${1:-}" = test ] && install_debian "${debian_test_packages[@]}"
    [ "${1:-}" = package ] && install_debian "${debian_package_packages[@]}"
  elif command -v rpm >/dev/null; then
    install_fedora "${fedora_packages[@]}"
    [ "${1:-}" = test ] && install_fedora "${fedora_test_packages[@]}"
  else
    echo "bootstrap: neither dpkg nor rpm is here; what is needed is listed by cmake if it is missing" >&2
  fi
  return 0
}

quickly=()
use_ccache() {
  if command -v ccache >/dev/null; then
    quickly=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
    # Clones in different folders share what was compiled.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
}

build() {
  install_packages
  use_ccache
  say "building build/user/bin/sabath: about ten minutes of processor time when nothing is cached"
  cmake -S . -B build/user -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DSABATH_TESTS=OFF "${quickly[@]}" >build/user.configure.log 2>&1 ||
    { cat build/user.configure.log >&2; exit 13; }
  # On a terminal ninja moves one line; elsewhere only problems are printed.
  if [ -t 1 ]; then
    NINJA_STATUS='[%p, %f of %t, %e s] ' cmake --build build/user
  else
    cmake --build build/user -- --quiet
  fi
}

# One step of the story: the command as a user types it, then what it prints.
step() {
  printf '\n$ %s\n' "$*"
  "$@"
}

demo() {
  build
  export PATH=$PWD/build/user/bin:$PATH
  export SABATH_HOME=${SABATH_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/sabath-demo}
  say "the story, in $SABATH_HOME"
  step sabath fetch supercell-bubbles
  step sabath run supercell --seed 1 --set threads=1 --set reduction=ordered
  step sabath run supercell --seed 1 --set threads=2 --set reduction=ordered
  step sabath run supercell --seed 1 --set threads=2 --set reduction=fast
  say "one thread against two, sums in a fixed order: equal to the last bit?"
  step sabath compare @last~2 @last~1 --require bitwise
  say "two threads against two, sums in whatever order is fast: equal enough?"
  step sabath compare @last~1 @last
}

# run_tests AT_ONCE FOLDER FILTER...: runs tests. What fails beside other tests runs once more, alone.
# A test that passes then is unsteady: it is named, and fails CI unless tests/unsteady.txt lists it with the reason.
run_tests() {
  local at_once=$1 folder=$2 failed unknown
  shift 2
  ctest --test-dir "$folder" --output-on-failure -j "$at_once" "$@" && return
  failed=$(sed 's/^[0-9]*://' "$folder"/Testing/Temporary/LastTestsFailed*.log)
  say "what failed, once more and alone"
  ctest --test-dir "$folder" --output-on-failure -j 1 --rerun-failed || {
    sed 's/^[0-9]*:/failed: /' "$folder"/Testing/Temporary/LastTestsFailed*.log >>build/failed.txt
    return 1
  }
  unknown=$(grep -vxEf <(sed -n 's/^\([^#].*\)  # .*/\1/p' tests/unsteady.txt) <<<"$failed" || true)
  printf 'unsteady: %s\n' "${failed//$'\n'/$'\nunsteady: '}"
  [ -z "$unknown" ] || [ -z "${CI:-}" ] || {
    sed 's/^/failed once, not listed in tests\/unsteady.txt: /' <<<"$unknown" | tee -a build/failed.txt >&2
    return 1
  }
}

# configure PRESET: with what makes builds quick.
configure() {
  use_ccache
  ! command -v mold >/dev/null || quickly+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold)
  cmake --preset "$1" ${CI:+-DSABATH_WERROR=ON} "${quickly[@]}" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log" >&2; exit 13; }
}

# One optimised build. Most of what tests the program waits for others: twice as many tests as cores.
test_all() {
  install_packages test
  say "building the program as it is installed, and its tests (build/release)"
  configure release
  cmake --build --preset release
  say "testing"
  run_tests $(($(nproc) * 2)) build/release "$@"
}

# The modules once more, with the address and undefined-behaviour sanitizers.
test_sanitized() {
  install_packages test
  say "building the modules with sanitizers (build/ci)"
  configure ci
  cmake --build --preset ci --target tests/unit/all
  say "testing the modules with sanitizers"
  run_tests $(($(nproc) + 1)) build/ci/tests/unit "$@"
}

# The pages of docs as a site that needs no network. A dead link or anchor fails.
site() {
  local sabath=build/user/bin/sabath python=build/site-tools/bin/python
  [ -x $sabath ] || sabath=build/release/bin/sabath
  [ -x $sabath ] || { build && sabath=build/user/bin/sabath; }
  if ! cmp -s docs/site/requirements.txt build/site-tools/requirements.txt; then
    say "the generator of the site, from PyPI (build/site-tools)"
    rm -rf build/site-tools
    python3 -m venv build/site-tools
    $python -m pip --quiet --disable-pip-version-check install --no-deps -r docs/site/requirements.txt
    cp docs/site/requirements.txt build/site-tools/
  fi
  python3 docs/site/pages.py $sabath . build/site-pages
  NO_MKDOCS_2_WARNING=1 $python -m mkdocs build -f build/site-pages/mkdocs.yml -d "$PWD/build/site"
  say "open build/site/index.html"
}

mkdir -p build
case "${1:-}" in
  build) build ;;
  demo) demo ;;
  site) site ;;
  test) test_all "${@:2}" ;;
  package) install_packages package && src/package/package.sh "${@:2}" ;;
  test-sanitized) test_sanitized "${@:2}" ;; # CI and developers
  *)
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
