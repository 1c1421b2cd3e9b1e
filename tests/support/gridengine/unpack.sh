#!/usr/bin/env bash
# unpack.sh FOLDER: Debian's Grid Engine beneath FOLDER. Installed, its packages would start services and bring a mail server.
# Does nothing where that is done already.
set -euo pipefail
folder=$1
[ -e "$folder/complete" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg >/dev/null || { echo 'no apt-get here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get -q download gridengine-master gridengine-exec gridengine-client gridengine-common)
rm -rf "$folder"
mkdir -p "$folder"
for package in "$work"/*.deb; do dpkg -x "$package" "$folder"; done
touch "$folder/complete"
