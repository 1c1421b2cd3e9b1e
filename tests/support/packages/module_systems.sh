#!/usr/bin/env bash
# module_systems.sh FOLDER: Environment Modules for the tests. Debian's package cannot be installed beside Lmod's, so it is
# unpacked into FOLDER, and its scripts are told where they are. Does nothing where that is done already.
set -euo pipefail
folder=$1
init=$folder/usr/share/modules/init/bash
[ -s "$init" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg >/dev/null || { echo 'no apt-get here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get -q download environment-modules)
dpkg -x "$work"/environment-modules_*.deb "$work/tree"
program=$(find "$work/tree/usr/lib" -type f -name modulecmd.tcl)
program=${program#"$work/tree"}
find "$work/tree/usr/share/modules/init" -type f -exec sed -i "s#$program#$folder$program#g" {} +
mkdir -p "$folder"
cp -a "$work/tree/." "$folder/"
