#!/usr/bin/env bash
# container_engines.sh FOLDER: Docker's daemon and a registry for the tests. Debian's packages would start them as services, so
# they are unpacked into FOLDER; podman, skopeo and runc are installed by bootstrap.sh. Does nothing where that is done already.
set -euo pipefail
folder=$1
command -v podman >/dev/null && command -v skopeo >/dev/null && command -v runc >/dev/null || { echo 'no podman, skopeo, runc here'; exit 77; }
[ -x "$folder/bin/dockerd" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg >/dev/null || { echo 'no apt-get here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && apt-get -q download docker.io containerd docker-registry tini)
for package in "$work"/*.deb; do dpkg -x "$package" "$work/tree"; done
mkdir -p "$folder/bin"
find "$work/tree/usr/bin" "$work/tree/usr/sbin" ! -type d ! -name dockerd -exec cp -L {} "$folder/bin/" \;
cp "$work/tree/usr/sbin/dockerd" "$folder/bin/" # last: says that all is there
