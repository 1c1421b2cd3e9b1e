#!/usr/bin/env bash
# crate_full_disk.sh SABATH: the disk is full while a run is exported or imported, at each size: exit 16, and nothing half-done is left.
# Needs root, for small file systems of its own; else it says so and tests nothing.
set -euo pipefail
sabath=$(realpath "$1")
if [ "${2:-}" != inside ]; then
  unshare -m true 2>/dev/null || { echo "crate_full_disk: skipped: no mount namespace may be made here"; exit 77; }
  exec unshare -m "$0" "$sabath" inside
fi
work=$(mktemp -d)
mkdir "$work/small" "$work/recipe"
trap 'umount "$work/small" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "FAIL $*" >&2; exit 1; }
cat >"$work/recipe/recipe.json" <<'R'
{"schema": 1, "name": "filled", "x-license": "MIT",
 "stages": [{"name": "make", "outputs": ["big"], "run": {"shell": "head -c 3000000 /dev/urandom > {output}/big; echo '{{\"loss\": 1}}' >> $SABATH_METRICS"}}]}
R
SABATH_HOME=$work/home "$sabath" run "$work/recipe" --seed 1 >/dev/null
crate=$work/whole.zip
SABATH_HOME=$work/home "$sabath" export @last -o "$crate" --with-code >/dev/null
needed=$(stat -c %s "$crate")

# small KIB: a file system of this size.
small() {
  umount "$work/small" 2>/dev/null || true
  mount -t tmpfs -o "size=$1k,mode=0755" none "$work/small"
}
# room COMMAND...: status of the command, its messages in errors.
room() { local status=0; "$@" >/dev/null 2>"$work/errors" || status=$?; return $status; }

refused=0
written=0
for kib in 0 4 8 16 32 64 512 2048 2900 2940 2960 3000 4096 8192; do
  small $((kib + 4))
  status=0; SABATH_HOME=$work/home room "$sabath" export @last -o "$work/small/r.zip" --with-code || status=$?
  if [ $status = 0 ]; then
    written=$((written + 1))
    cmp "$crate" "$work/small/r.zip" || fail "export into $kib KiB: other bytes"
  else
    refused=$((refused + 1))
    [ $status = 16 ] || { cat "$work/errors"; fail "export into $kib KiB: exit status $status"; }
    [ -z "$(ls -A "$work/small")" ] || { ls -la "$work/small"; fail "export into $kib KiB: something is left"; }
  fi
done
echo "export: $refused sizes refused, $written written"
[ $refused -gt 3 ] && [ $written -gt 0 ] || fail "the sizes do not fit $needed bytes"

refused=0
written=0
for kib in 16 64 128 512 2048 2900 2960 3000 3040 3100 3200 4096 8192; do
  small "$kib"
  status=0; SABATH_HOME=$work/small/home SABATH_CACHE=$work/cache room "$sabath" import "$crate" || status=$?
  runs=$( (find "$work/small/home/runs" -mindepth 1 -maxdepth 1 -name 'filled-*' 2>/dev/null || true) | wc -l)
  if [ $status = 0 ]; then
    written=$((written + 1))
    [ "$runs" = 1 ] || fail "import into $kib KiB: $runs runs"
    cmp "$work/home/runs/"filled-*/outputs/make/big "$work/small/home/runs/"filled-*/outputs/make/big
  else
    refused=$((refused + 1))
    [ $status = 16 ] || { cat "$work/errors"; fail "import into $kib KiB: exit status $status"; }
    # A run that is there is whole; what is not there is not there in parts.
    [ "$runs" = 0 ] || cmp "$work/home/runs/"filled-*/outputs/make/big "$work/small/home/runs/"filled-*/outputs/make/big ||
      fail "import into $kib KiB: a part of a run is left"
    [ -z "$(find "$work/small/home" -name big -not -path '*/runs/filled-*' 2>/dev/null || true)" ] || fail "import into $kib KiB: an unpacked folder is left"
  fi
done
echo "import: $refused sizes refused, $written written"
[ $refused -gt 3 ] && [ $written -gt 0 ] || fail "the sizes do not fit $needed bytes"
SABATH_HOME=$work/home "$sabath" run "$work/recipe" --seed 2 >/dev/null
group=$work/group.zip
SABATH_HOME=$work/home "$sabath" export recipe=filled -o "$group" --with-code >/dev/null
for kib in 64 3500 6500 9500 16384; do
  small "$kib"
  status=0; SABATH_HOME=$work/home room "$sabath" export recipe=filled -o "$work/small/g.zip" --with-code || status=$?
  [ "$kib" = 16384 ] && wanted=0 || wanted=16
  [ $status = $wanted ] || { cat "$work/errors"; fail "export of two runs into $kib KiB: exit status $status"; }
  [ $status = 0 ] || [ -z "$(ls -A "$work/small")" ] || { ls -la "$work/small"; fail "export of two runs into $kib KiB: something is left"; }
done
for kib in 512 4096 8192 11264 32768; do
  small "$kib"
  status=0; SABATH_HOME=$work/small/home SABATH_CACHE=$work/cache room "$sabath" import "$group" || status=$?
  runs=$( (find "$work/small/home/runs" -mindepth 1 -maxdepth 1 -name 'filled-*' 2>/dev/null || true) | wc -l)
  [ "$kib" = 32768 ] && wanted="0 2" || wanted="16 0"
  [ "$status $runs" = "$wanted" ] || { cat "$work/errors"; fail "import of two runs into $kib KiB: exit status $status, $runs runs"; }
done
echo "groups: refused where there is no room, written where there is"
echo "crate_full_disk: all right"
