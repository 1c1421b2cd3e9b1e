#!/usr/bin/env bash
# tidy.sh BUILD_FOLDER [SECONDS]: clang-tidy on what changed since the last tag, or without a tag on all of src as far as the
# time goes, files changed last first. What was not reached is said; a finding fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git rev-parse --verify -q HEAD >/dev/null || { echo "tidy: git cannot read this folder" >&2; exit 1; }
build=$1
seconds=${2:-480}
if tag=$(git describe --tags --abbrev=0 2>/dev/null); then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$tag" -- 'src/*.cpp')
else
  mapfile -t files < <(git log --name-only --format= -- 'src/*.cpp' | awk 'NF && !seen[$0]++' | xargs -r ls -d 2>/dev/null)
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing changed"; exit 0; }

# What clang does not know of gcc's flags (precompiled headers, warnings) is taken out of a copy of the compile commands.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's# -include [^ ]*cmake_pch\.hxx##g; s# -Winvalid-pch##g; s# -Wno-restrict##g' "$build/compile_commands.json" >"$commands/compile_commands.json"

check_one() {
  [ "$(date +%s)" -lt "$3" ] || { echo "$1" >>"$2/skipped"; return 0; }
  local out
  if ! out=$(clang-tidy-14 --quiet -p "$2" "$1" 2>&1); then
    echo "$1" >>"$2/failed"
    printf '%s\n' "$out" | grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' || true
  fi
}
export -f check_one
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check_one "$@"' _ {} "$commands" "$(($(date +%s) + seconds))"
skipped=$( [ -f "$commands/skipped" ] && wc -l <"$commands/skipped" || echo 0)
echo "tidy: $((${#files[@]} - skipped)) of ${#files[@]} files checked, $skipped not reached in $seconds s"
[ ! -f "$commands/failed" ]
