#!/usr/bin/env bash
# A folder to compile against: glibc 2.31 of Debian 11, with libraries of Debian 12 to link statically. Run on Debian 12, as root.
#   old_root.sh FOLDER   makes FOLDER/root, FOLDER/c++ and FOLDER/cc (the compilers for it), FOLDER/listed.txt (the static libraries);
#                        a second call is quick
# Debian 12's compiler works as it is: what its objects expect of a newer glibc stands in newer_glibc.c.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cd "$1"
top=$PWD root=$PWD/root
[ ! -e complete ] || exit 0
grep -q '^VERSION_ID="12"' /etc/os-release || { echo "old_root.sh: needs Debian 12 and its GCC 12" >&2; exit 13; }

libraries=(libstdc++-12-dev libssl-dev libsqlite3-dev libsqlitecpp-dev libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev
  libhdf5-dev zlib1g-dev libxxhash-dev rapidjson-dev libpcre2-dev libyaml-cpp-dev libaec-dev libnghttp2-dev libidn2-dev
  libunistring-dev libzstd-dev libacl1-dev libbz2-dev liblzma-dev liblz4-dev libboost1.74-dev)
sources=(curl hwloc libarchive fmtlib spdlog)

# The machine's own mirror, whatever the form of its lists.
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
  sed -n 's/^URIs: *\([^ ]*debian\)\/\{0,1\}$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\)\/\{0,1\} .*/\2/p' | head -1)

bring() {
  rm -rf root
  debootstrap --variant=minbase --include=libc6-dev bullseye root "$mirror" >debootstrap.log || { tail -5 debootstrap.log >&2; exit 13; }
  rm -rf debs sources && mkdir -p debs sources/lists/partial sources/parts
  chmod 755 debs
  (cd debs && apt-get download -q "${libraries[@]}" && for file in *.deb; do dpkg -x "$file" "$root"; done) >download.log 2>&1
  for file in debs/*.deb; do dpkg-deb -f "$file" Package Version Source; echo; done >packages.txt

  cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types:.*/Types: deb-src/' >sources/parts/source.sources || true
  sed -n 's/^deb /deb-src /p' /etc/apt/sources.list 2>/dev/null >sources/parts/source.list || true
  (
    cd sources
    own=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/parts" -o "Dir::State::lists=$PWD/lists")
    apt-get "${own[@]}" update -q && apt-get "${own[@]}" source -q "${sources[@]}"
  ) >sources.log 2>&1 || { tail -5 sources.log >&2; exit 13; }
  for name in "${sources[@]}"; do
    sed -n 's/^\(Source\|Version\): \(.*\)/\2/p' "sources/$name"_*.dsc | head -2 | paste -sd' '
  done >>sources.txt
  # Links lead into the folder.
  find root/usr/lib root/usr/lib64 -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do ln -sfn "$root$target" "$link"; done
  touch brought
}
[ -e brought ] || bring

lib=$root/usr/lib/x86_64-linux-gnu
# Its start files and libraries before those of this system: those of glibc 2.34 and newer expect its other start.
for tool in cc:gcc c++:g++; do
  printf '#!/bin/sh\nexec %s-12 --sysroot=%s -B%s -L%s "$@"\n' "${tool#*:}" "$root" "$lib" "$lib" >"${tool%:*}"
  chmod 755 "${tool%:*}"
done
export CC="$top/cc" CXX="$top/c++" CFLAGS="-O2 -fPIC -ffile-prefix-map=$top/=" CXXFLAGS="-O2 -fPIC -ffile-prefix-map=$top/="
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/x86_64-linux-gnu/pkgconfig:$root/usr/lib/pkgconfig:$root/usr/share/pkgconfig
build() {
  [ ! -e "built/$1" ] || return 0
  set +e
  (set -e && "build_$1") >"$1.log" 2>&1
  local status=$?
  set -e
  [ $status = 0 ] || { tail -20 "$1.log" >&2; exit 13; }
  touch "built/$1"
}

# ours NAME MEMBERS...: what the linker finds as -lNAME is these static libraries.
ours() { printf 'GROUP(%s)\n' "${*:2}" >"$lib/lib$1.so"; }

mkdir -p built
"$CC" -O2 -fPIC -c "$here/newer_glibc.c" -o newer_glibc.o

build_fmt() { cd sources/fmtlib-*/ && "$CXX" $CXXFLAGS -std=c++20 -Iinclude -c src/format.cc src/os.cc && ar rcs "$lib/libfmt.a" format.o os.o; }
build_spdlog() {
  cd sources/spdlog-*/
  for file in src/*.cpp; do
    case $file in *bundled*) ;; *) "$CXX" $CXXFLAGS -std=c++20 -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -Iinclude -c "$file" ;; esac
  done
  ar rcs "$lib/libspdlog.a" ./*.o
}
own_cmake=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSROOT="$root" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu
  -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY
  -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF)
build_curl() {
  cmake -S sources/curl-*/ -B sources/curl "${own_cmake[@]}" -DBUILD_CURL_EXE=OFF -DCURL_USE_OPENSSL=ON -DOPENSSL_USE_STATIC_LIBS=ON \
    -DUSE_NGHTTP2=ON -DUSE_LIBIDN2=ON -DCURL_DISABLE_LDAP=ON -DCURL_DISABLE_LDAPS=ON -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF \
    -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt -DCURL_CA_PATH=none -DRANDOM_FILE=/dev/urandom -DCMAKE_C_STANDARD_LIBRARIES="-lunistring -ldl -lpthread"
  ninja -C sources/curl && DESTDIR=$root cmake --install sources/curl
}
build_hwloc() {
  cd sources/hwloc-*/
  [ -x configure ] || autoreconf -fi
  ./configure --host=x86_64-linux-gnu --prefix=/usr --libdir=/usr/lib/x86_64-linux-gnu --disable-shared --enable-static --disable-libxml2 \
    --disable-cairo --disable-pci --disable-opencl --disable-cuda --disable-nvml --disable-rsmi --disable-levelzero --disable-gl \
    --disable-plugins --disable-libudev --disable-readme
  make -s -j"$(nproc)" -C include install DESTDIR="$root" && make -s -j"$(nproc)" -C hwloc install DESTDIR="$root"
  make -s install-pkgconfigDATA DESTDIR="$root" || install -m 644 hwloc.pc "$lib/pkgconfig"
}
build_archive() {
  cmake -S sources/libarchive-*/ -B sources/archive "${own_cmake[@]}" -DENABLE_LIBXML2=OFF -DENABLE_EXPAT=OFF -DENABLE_NETTLE=OFF \
    -DENABLE_TEST=OFF -DENABLE_TAR=OFF -DENABLE_CPIO=OFF -DENABLE_CAT=OFF -DENABLE_LIBB2=OFF
  ninja -C sources/archive archive_static
  install -m 644 sources/archive/libarchive/libarchive.a "$lib"
  install -m 644 sources/libarchive-*/libarchive/archive.h sources/libarchive-*/libarchive/archive_entry.h "$root/usr/include"
  install -m 644 sources/archive/build/pkgconfig/libarchive.pc "$lib/pkgconfig"
}
# A library that Debian links dynamically is a dangling link here.
find "$lib" -xtype l -name '*.so' -delete
build fmt
build spdlog
build curl
build hwloc
build archive

ours curl libcurl.a libnghttp2.a libidn2.a libunistring.a libssl.a libcrypto.a libz.a -ldl -lpthread
ours crypto libcrypto.a -ldl -lpthread
ours archive libarchive.a libacl.a libbz2.a liblzma.a liblz4.a libzstd.a libcrypto.a libz.a -ldl -lpthread
ours sqlite3 libsqlite3.a -lm -ldl -lpthread
{
  printf 'GROUP(libfmt.a)\n' >"$lib/$(sed -n 's/.*IMPORTED_LOCATION_NONE.*\(libfmt[^"]*\)".*/\1/p' "$lib"/cmake/fmt/*none.cmake)"
  printf 'GROUP(libspdlog.a libfmt.a)\n' >"$lib/$(sed -n 's/.*IMPORTED_LOCATION_NONE.*\(libspdlog[^"]*\)".*/\1/p' "$lib"/cmake/spdlog/*none.cmake)"
  printf 'GROUP(libhdf5_serial.a libsz.a libaec.a libcurl.so libz.a -lm -ldl -lpthread)\n' >"$lib/hdf5/serial/libhdf5.so"
}
# Name and version of each package whose code is in the program.
{
  sed -n '/^Package: /{s///;h};/^Version: /{s///;H;x;s/\n/ /;p}' packages.txt
  cat sources.txt
} | LC_ALL=C sort >listed.txt
touch complete
