#!/usr/bin/env bash
# rules.sh [ROOT]: what the house style asks for and a search can find.
set -euo pipefail
export LC_ALL=C # bytes: much quicker
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}"
failed=0
# forbid WHAT PATTERN FILES...: no line of the files may match.
forbid() {
  local what=$1 pattern=$2
  shift 2
  local hits
  hits=$(grep -nE -- "$pattern" "$@" /dev/null || true)
  [ -z "$hits" ] || { printf 'rules: %s:\n%s\n' "$what" "$hits" >&2; failed=1; }
}
mapfile -t library < <(find src include -name '*.[ch]pp' -not -path 'src/cli/*' | sort)
mapfile -t all < <(find src include -name '*.[ch]pp' | sort)
mapfile -t plain < <(find src include -name '*.[ch]pp' -not -path 'src/*_json.[ch]pp' -not -path 'src/base/text/json_*' | sort)
mapfile -t no_catalog < <(find src include -name '*.[ch]pp' -not -path 'src/catalog/*' | sort)
[ ${#all[@]} -gt 100 ] || { echo "rules: only ${#all[@]} files; wrong folder?" >&2; exit 1; }
forbid "the library does not print" 'std::(cout|cerr|clog)|\b(printf|puts|fputs)\(' "${library[@]}"
forbid "no singletons" '\binstance\(\)' "${all[@]}"
forbid "no shell" '\b(system|popen)\(' "${all[@]}"
forbid "JSON values stay in *_json.cpp and the private *_json.hpp" 'nlohmann/json\.hpp' "${plain[@]}"
forbid "SQL stays in src/catalog" 'SQLite::|sqlite3_' "${no_catalog[@]}"
forbid "exit only in main" '(^|[^.>_[:alnum:]])exit\(' "${all[@]}"
forbid "no lock is taken" '\b(flock|lockf)\(|F_(OFD_)?SETLKW?\b' "${all[@]}"
forbid "nothing is left for later" '\b(TODO|FIXME|XXX)\b' "${all[@]}"
# Where others may write, base::Beneath and base::Directory make, rename and remove. These files of the cache and of
# environments go by path, in folders where nobody else can exchange anything. home, planning, execution and batch go by
# path in runs, studies and state: make_dated_folder refuses a home in which others can exchange folders, as ScratchFolder
# and StagedCopy do.
by_path=(
  # The user's own state (0700), and what the user names: the folder of `fetch -o`, the root of the cache.
  src/cache/objects/digest_memo.cpp src/cache/gc/stale_places.cpp src/cache/objects/placement.cpp src/cache/layout.cpp
  # The attempt of a build. LayerBuilder refuses, before it begins, a place that others can write to. A group that the
  # configuration trusts may execute there anyway. The work of a request is there, too, or else in the user's state.
  src/env/source/build_steps.cpp src/env/store/records_json.cpp src/env/source/source_build.cpp src/env/tools/conda_engine.cpp
  src/env/layers/locked_layer.cpp src/env/tools/container_command.cpp
  src/env/layers/container_layer.cpp src/env/source/fetched_source.cpp src/env/tools/git.cpp src/env/container_images/image_manifest_json.cpp
  src/env/container_images/image_registry.cpp src/env/layers/package_check.cpp src/env/layers/pip_layer.cpp src/env/tools/pip.cpp src/env/layers/package_layer.cpp
  src/env/source/source_layer.cpp
  src/env/store/prefix_image.cpp  # beside a prefix that was found trusted, or in an own folder (0700) of a sticky one
)
mapfile -t beneath < <(find src/cache src/env -name '*.cpp' | sort | grep -vxFf <(printf '%s\n' "${by_path[@]}"))
forbid "caches and environments are changed through base::Beneath" \
  '\b(remove_all|create_director(y|ies)|create_(hard_link|symlink|directory_symlink))\(|fs::(remove|rename|permissions)\(|::(unlink|rmdir|rename|renameat2|mkdir|link|symlink|chmod)\([^)]*c_str|base::(remove_tree|make_directories|rename_no_replace|write_file_(atomically|once))\(' \
  "${beneath[@]}"
while read -r lines file; do
  [ "$file" = total ] || [ "$lines" -le 600 ] || { echo "rules: $file has $lines lines, more than 600" >&2; failed=1; }
done < <(find src include tests -name '*.[ch]pp' -exec wc -l {} +)
# CMake cuts a name there, and what is left matches no test: it passes without being executed.
if grep -rlPzo --include='*.cpp' 'TEST_CASE\(\s*("[^"]*"\s*)*"[^"]*;' tests; then
  echo "rules: a test has ';' in its name" >&2
  failed=1
fi
for name in $(find src include -type d \( -name util -o -name utils -o -name common -o -name misc -o -name core \)); do
  echo "rules: no folder is called $name" >&2
  failed=1
done
[ $failed = 0 ] && echo "rules: ${#all[@]} files keep them"
exit $failed
