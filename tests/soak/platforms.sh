#!/usr/bin/env bash
# Builds sabath on other platforms and runs its quick tests there; prints the date, each part and its result.
#   platforms.sh [--keep] [debian13 | clang16 | package12 | package13 | package11 | wheel]...
#     debian13   Debian 13, GCC 14: builds, runs the quick tests
#     clang16    Debian 12, Clang 16: builds, runs the quick tests
#     package12  the package for Debian 12 in a system without a compiler: digits, and supercell with what it asks for
#     package13  the same for Debian 13
#     package11  the tarball in Debian 11
#     wheel      the wheel in Debian 13 with Python alone
# As root: systems are made by debootstrap from the mirror of this one, in $SABATH_PLATFORMS (default: a temporary folder).
# With --keep they stay. Packages are those of build/package (./bootstrap.sh package ...). Tests that the variable
# SABATH_PLATFORM_TESTS names (a regular expression for ctest -R) run alone.
set -uo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "platforms: needs root and debootstrap"; exit 77; }
keep=
[ "${1:-}" != --keep ] || { keep=1; shift; }
[ $# != 0 ] || set -- debian13 clang16 package12 package13 package11 wheel
top=${SABATH_PLATFORMS:-$(mktemp -d "${TMPDIR:-/tmp}/sabath-platforms-XXXXXX")}
mkdir -p "$top/ccache"
problems=0 root=

mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
  sed -n 's/^URIs: *\([^ ]*debian\)\/\{0,1\}$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\)\/\{0,1\} .*/\2/p' | head -1)

release_root() {
  local point
  for point in ccache dev sys proc; do
    ! mountpoint -q "$root/$point" || umount -l "$root/$point"
  done
}
trap '[ -z "$root" ] || release_root; [ -n "$keep" ] || rm -rf --one-file-system "$top"' EXIT
trap 'exit 130' INT TERM

# new_root NAME SUITE PACKAGES...: a small Debian at $root.
new_root() {
  root=$top/$1
  if [ ! -e "$root/made" ]; then
    rm -rf --one-file-system "$root"
    debootstrap --variant=minbase --include=ca-certificates "$2" "$root" "$mirror" >"$top/$1.debootstrap.log" 2>&1 ||
      { tail -3 "$top/$1.debootstrap.log"; return 1; }
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    touch "$root/made"
  fi
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  ! [ -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
  mkdir -p "$root/ccache"
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  mountpoint -q "$root/sys" || mount -t sysfs -o ro sys "$root/sys"
  mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
  mountpoint -q "$root/ccache" || mount --bind "$top/ccache" "$root/ccache"
  inside "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ${*:3}" \
    >"$top/$1.apt.log" 2>&1 || { tail -3 "$top/$1.apt.log"; return 1; }
}

inside() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CCACHE_DIR=/ccache CCACHE_BASEDIR=/src/sabath \
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash -c "$1"
}

# result NAME STATUS
result() {
  if [ "$2" = 0 ]; then echo "ok      $1"; else echo "FAILED  $1"; problems=$((problems + 1)); fi
}

packages_of() { sed -n "/^$1=(/,/)/p" "$source_folder/bootstrap.sh" | sed 's/^[a-z_]*=(//; s/)$//' | tr '\n' ' '; }

# test_here NAME OPTIONS: builds in $root and runs the quick tests.
test_here() {
  mkdir -p "$root/src/sabath"
  tar -C "$source_folder" --exclude=./build --exclude=./.git -cf - . | tar -C "$root/src/sabath" -xf -
  inside "cd /src/sabath && cmake -S . -B build/platform -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache $2" >"$top/$1.configure.log" 2>&1
  result "$1: configures" $?
  inside "cd /src/sabath && cmake --build build/platform -- -k 0" >"$top/$1.build.log" 2>&1
  result "$1: compiles and links" $?
  inside "cd /src/sabath && ctest --test-dir build/platform -L quick -j $(nproc) ${SABATH_PLATFORM_TESTS:+-R '$SABATH_PLATFORM_TESTS'}" \
    >"$top/$1.test.log" 2>&1
  result "$1: quick tests: $(grep 'tests passed' "$top/$1.test.log")" $?
}

debian13() {
  new_root debian13 trixie "$(packages_of debian_packages)" catch2 libcpp-httplib-dev hdf5-tools openssl git python3 || return 1
  test_here debian13 ""
}

clang16() {
  new_root clang16 bookworm "$(packages_of debian_packages)" clang-16 catch2 libcpp-httplib-dev hdf5-tools openssl git python3 || return 1
  test_here clang16 "-DCMAKE_C_COMPILER=clang-16 -DCMAKE_CXX_COMPILER=clang++-16"
}

# package_in VERSION SUITE
package_in() {
  local part=package$1 said packages
  new_root "$part" "$2" "" || return 1
  cp "$source_folder"/build/package/sabath_*+debian"$1"_amd64.deb "$root/tmp/" || return 1
  inside "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends /tmp/sabath_*.deb python3-venv" >"$top/$part.log" 2>&1
  result "$part: installs" $?
  ! inside "command -v gcc g++ cc c++"
  result "$part: has no compiler" $?
  inside "sabath run digits --seed 1"
  result "$part: digits" $?
  if said=$(inside "sabath run supercell --seed 1" 2>&1); then result "$part: supercell without a compiler fails" 1; fi
  printf '%s\n' "$said"
  # What it says is installed, until it says nothing more.
  for _ in 1 2 3 4 5 6; do
    packages=$(tr -s ' \n' ' ' <<<"$said" | grep -o 'apt install [a-z0-9+. -]*' | head -1 | sed 's/apt install //')
    [ -n "$packages" ] || break
    echo "installing $packages"
    inside "DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages" >>"$top/$part.log" 2>&1
    # A build that failed for want of a library is repeated on request.
    if said=$(inside "sabath env build supercell --retry && sabath run supercell --seed 1" 2>&1); then
      printf '%s\n' "$said"
      result "$part: supercell" 0
      return 0
    fi
    printf '%s\n' "$said"
  done
  result "$part: supercell" 1
}

package12() { package_in 12 bookworm; }
package13() { package_in 13 trixie; }

package11() {
  new_root package11 bullseye python3-venv python3-pip || return 1
  tar -C "$root/opt" -xzf "$source_folder"/build/package/sabath-*-linux-x86_64.tar.gz || return 1
  inside "mv /opt/sabath-*-linux-x86_64 /opt/moved && /opt/moved/bin/sabath --version && /opt/moved/bin/sabath doctor"
  result "package11: doctor" $?
}

wheel() {
  new_root wheel trixie python3 python3-venv python3-pip || return 1
  cp "$source_folder"/build/package/pysabath-*.whl "$root/tmp/" || return 1
  inside "python3 -m venv /opt/program && /opt/program/bin/pip install -q /tmp/pysabath-*-manylinux*.whl &&
    python3 -m venv /opt/pure && /opt/pure/bin/pip install -q /tmp/pysabath-*-any.whl"
  result "wheel: both install" $?
  inside "/opt/program/bin/sabath run digits --seed 1"
  result "wheel: digits" $?
  inside "/opt/pure/bin/python -c 'import pysabath; (run,) = pysabath.runs(\"recipe=digits\"); print(run.id, run.metrics[\"loss\"].value)'"
  result "wheel: the pure package reads that home" $?
}

echo "platforms, $(date -u +%Y-%m-%d), $(git -C "$source_folder" describe --always 2>/dev/null || true)"
for part in "$@"; do
  case $part in
    debian13 | clang16 | package12 | package13 | package11 | wheel) ;;
    *) echo "platforms: unknown part '$part'" >&2; exit 2 ;;
  esac
  "$part" || result "$part: could not be made" 1
  [ -z "$root" ] || release_root
  root=
done
[ "$problems" = 0 ]
