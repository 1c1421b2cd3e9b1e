#!/usr/bin/env bash
# Packages of the checked-out commit, in build/package: package.sh [deb | tarball | wheel | pure | sbom | sums]...
#   deb      for the Debian that this runs on
#   tarball  for x86-64 Linux from glibc 2.31 on: on Debian 12, as root, since it is linked with the glibc of Debian 11
#   wheel    the Python package with the program of the tarball
#   pure     the Python package alone
#   sbom     SPDX 2.3 of what the program of the package for Debian is linked with
#   sums     SHA256SUMS of what is there
# Without a word: deb, pure, sbom, sums. Two calls for one commit write equal bytes.
set -euo pipefail
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=src/package
out=$PWD/build/package
tree=$PWD/build/deb # as deep as build/user: the cache of the compiler has relative paths
mkdir -p "$out"

# Everything that names a time or an author takes that of the commit.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH TZ=UTC
export SABATH_MAINTAINER=${SABATH_MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || true)}
version=$(sed -n 's/^project(sabath VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# Compiled as ./bootstrap.sh build does, so that the compiler's cache serves both.
cheap=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DSABATH_TESTS=OFF)

say() { printf '\n== %s\n' "$*"; }

# build_tree: the program, in build/deb.
build_tree() {
  say "building the program (build/deb)"
  local launcher=()
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  LDFLAGS="-Wl,-z,relro,-z,now" \
    cmake -S . -B "$tree" -G Ninja "${cheap[@]}" \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_DOCDIR=share/doc/sabath "${launcher[@]}" >"$out/configure.log" 2>&1 ||
    { cat "$out/configure.log" >&2; exit 13; }
  cmake --build "$tree" -- --quiet
}

package_deb() {
  build_tree
  rm -rf "$tree/_CPack_Packages"
  (cd "$tree" && cpack -G DEB -B "$out" >cpack.log) || { cat "$tree/cpack.log" >&2; exit 13; }
  rm -rf "$out/_CPack_Packages"
  ls "$out"/*.deb
}

# The highest version of glibc that the program asks for is at most 2.31, and it needs no library but glibc's.
check_portable() {
  local program=$1 highest others
  highest=$(objdump -T "$program" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1)
  [ "$(printf '%s\nGLIBC_2.31\n' "$highest" | sort -V | tail -1)" = GLIBC_2.31 ] || { echo "$program: needs $highest" >&2; return 1; }
  others=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld-linux-x86-64\.so\.2)$' || true)
  [ -z "$others" ] || { echo "$program: needs ${others//$'\n'/, }" >&2; return 1; }
  echo "$(basename "$program"): needs glibc ${highest#GLIBC_}"
}

# portable: the installed program for glibc 2.31, in build/package/portable. What was compiled for Debian 12 is linked once more, with
# static libraries and the older glibc.
portable() {
  local lib=$out/old/root/usr/lib/x86_64-linux-gnu program=$out/portable/bin/sabath objects modules
  [ "$(id -u)" = 0 ] || { echo "package.sh: debootstrap needs root" >&2; exit 13; }
  build_tree
  say "making what the tarball is linked with (build/package/old)"
  "$here/old_root.sh" "$out/old"
  rm -rf "$out/portable"
  cmake --install "$tree" --prefix "$out/portable" >/dev/null
  mapfile -t objects < <(find "$tree/src/cli" -name '*.o' | LC_ALL=C sort)
  mapfile -t modules < <(find "$tree/src" -name '*.a' | LC_ALL=C sort)
  "$out/old/c++" -O2 -static-libstdc++ -static-libgcc -Wl,-z,relro,-z,now,--gc-sections "-Wl,--disable-new-dtags,-rpath,\$ORIGIN/sabath-lib" \
    -o "$program" "${objects[@]}" -Wl,--start-group "${modules[@]}" -Wl,--end-group "$out/old/newer_glibc.o" \
    -lspdlog -lfmt -lSQLiteCpp -lsqlite3 -lcurl -larchive -lhwloc -lxxhash -lpcre2-8 -lyaml-cpp "$lib/hdf5/serial/libhdf5.so" \
    -lcrypto -lz -lm -ldl -lpthread
  strip "$program"
  chmod -R u=rwX,go=rX "$out/portable"
  local licences=$out/portable/share/doc/sabath/licences name
  mkdir -p "$licences"
  while read -r name _; do
    if [ -n "$name" ] && [ -f "/usr/share/doc/$name/copyright" ]; then cp "/usr/share/doc/$name/copyright" "$licences/$name"; fi
  done <"$out/old/listed.txt"
  for name in "$out"/old/sources/*/debian/copyright; do
    cp "$name" "$licences/$(basename "$(dirname "$(dirname "$name")")" | sed 's/-[0-9].*//')"
  done
  check_portable "$program"
}

made_portable=
portable_once() {
  [ -n "$made_portable" ] || portable
  made_portable=1
}

package_tarball() {
  portable_once
  local name=sabath-$version-linux-x86_64
  LC_ALL=C tar -C "$out/portable" --transform "s,^\.,$name," --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --format=gnu -cf - . | gzip -9n >"$out/$name.tar.gz"
  python3 "$here/sbom.py" "$version" "$out/portable/bin/sabath" --listed "$out/old/listed.txt" >"$out/$name.spdx.json"
  ls "$out/$name.tar.gz"
}

package_wheel() {
  portable_once
  python3 "$here/wheel.py" "$out" "$out/portable" manylinux_2_31_x86_64
}

package_pure() { python3 "$here/wheel.py" "$out"; }

package_sbom() {
  # Compiled in: headers, and SQLiteCpp, which Debian has as a static library alone.
  local boost
  boost=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'libboost1.*-dev' | sed -n 's/ installed$//p' | grep -x 'libboost1\.[0-9]*-dev')
  python3 "$here/sbom.py" "$version" "$tree/bin/sabath" libcli11-dev nlohmann-json3-dev rapidjson-dev libsqlitecpp-dev "$boost" \
    >"$out/$(basename "$(ls "$out"/sabath_"$version"+*.deb | tail -1)" .deb).spdx.json"
}

package_sums() {
  (cd "$out" && find . -maxdepth 1 \( -name '*.deb' -o -name '*.tar.gz' -o -name '*.whl' -o -name '*.spdx.json' \) -printf '%f\n' |
    LC_ALL=C sort | xargs -r sha256sum -- >SHA256SUMS)
  cat "$out/SHA256SUMS"
}

[ $# != 0 ] || set -- deb pure sbom sums
for word in "$@"; do
  case $word in
    deb | tarball | wheel | pure | sbom | sums) "package_$word" ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
