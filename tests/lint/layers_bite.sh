#!/usr/bin/env bash
# The layering check finds a seeded violation of each kind, and passes without one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() { cmake -DROOT="$work/tree" -P "$root/tests/lint/CheckLayers.cmake" >"$work/out" 2>&1; }
fresh() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree"
  cp -r "$root/src" "$root/include" "$work/tree/"
}
fresh
check || { cat "$work/out" >&2; echo "layers: the tree itself is refused" >&2; exit 1; }
failed=0
# bites NAME FILE LINE: with LINE in FILE the check must fail and name the file.
bites() {
  fresh
  mkdir -p "$(dirname "$work/tree/$2")"
  printf '%s\n' "$3" >>"$work/tree/$2"
  if check; then
    echo "layers: a seeded violation was not found: $1" >&2
    failed=1
  elif ! grep -qF "$2" "$work/out"; then
    echo "layers: the violation does not name its file: $1" >&2
    failed=1
  fi
}
bites "modules of the middle do not meet" src/cache/cache.cpp '#include <sabath/fetch/fetcher.hpp>'
bites "base sees nothing above" src/base/file.cpp '#include <sabath/spec/asset.hpp>'
bites "spec does not see the middle" src/spec/recipe.cpp '#include <sabath/cache/cache.hpp>'
bites "nobody sees cli" src/app/run_recipe.cpp '#include <sabath/cli/program.hpp>'
bites "the middle does not see what is above" src/env/store/prefix.cpp '#include <sabath/home/folders.hpp>'
bites "home does not see execution" src/home/documents.cpp '#include <sabath/execution/execute_plan.hpp>'
bites "batch does not see analysis" src/batch/submit_runs.cpp '#include <sabath/analysis/compare_pair.hpp>'
bites "a private header of another module" src/fetch/builtin.cpp '#include "memo.hpp"'
bites "no way up" src/cache/cache.cpp '#include "../fetch/builtin.hpp"'
bites "third parties stay out of public headers" include/sabath/base/file.hpp '#include <curl/curl.h>'
bites "private headers stay out of public ones" include/sabath/home/folders.hpp '#include "dated_folder.hpp"'
bites "an unknown module" src/util/string.cpp '#include <string>'
bites "the header for other codes stands alone" include/sabath_log.h '#include <sabath/base/error.hpp>'
bites "one header is for other codes" include/sabath_other.h '#include <stdio.h>'
[ $failed = 0 ] && echo "layers: fourteen seeded violations were found"
exit $failed
