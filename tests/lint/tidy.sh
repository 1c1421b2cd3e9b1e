#!/usr/bin/env bash
# tidy.sh [BASE | all]: clang-tidy on the sources that changed since the commit BASE, by default the one in .ci/tidy-base.
# A finding fails. The commit in .ci/tidy-base moves forward only when all of src is clean.
# It reads unity batches: eight sources share the reading of their headers, which takes most of the time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
base=${1:-$(cat .ci/tidy-base)}
if [ "$base" = all ]; then
  mapfile -t files < <(git ls-files 'src/*.cpp')
else
  git rev-parse --verify -q "$base^{commit}" >/dev/null || { echo "tidy: git does not know the commit '$base'" >&2; exit 1; }
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp')
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: no source changed since $base"; exit 0; }

commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
cmake -S . -B "$commands" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DSABATH_TESTS=OFF >"$commands/configure.log" 2>&1 ||
  { cat "$commands/configure.log" >&2; exit 1; }
sed -i -E 's# -Wno-restrict##g' "$commands/compile_commands.json"

# A source without a batch is read alone.
units=()
for file in "${files[@]}"; do
  unit=$(grep -rlF --include='unity_*' "\"$PWD/$file\"" "$commands" || true)
  units+=("${unit:-$PWD/$file}")
done

check_one() {
  local out
  if ! out=$(clang-tidy-14 --config-file=.clang-tidy --checks=-bugprone-suspicious-include --header-filter="^$PWD/(include/sabath|src)/" --quiet -p "$2" "$1" 2>&1); then
    echo "$1" >>"$2/failed"
    printf '%s\n' "$out" | grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' || true
  fi
}
export -f check_one
printf '%s\n' "${units[@]}" | sort -u | xargs -P "$(nproc)" -I{} bash -c 'check_one "$@"' _ {} "$commands"
echo "tidy: ${#files[@]} sources were checked (since: $base)"
[ ! -f "$commands/failed" ]
