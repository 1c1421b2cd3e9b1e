#!/usr/bin/env bash
# rules.sh [ROOT]: what the house style asks for and a search can find.
set -euo pipefail
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
mapfile -t plain < <(find src include -name '*.[ch]pp' -not -path 'src/*_json.[ch]pp' -not -path 'src/base/json_*' | sort)
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
for file in $(find src include tests -name '*.[ch]pp'); do
  lines=$(wc -l <"$file")
  [ "$lines" -le 600 ] || { echo "rules: $file has $lines lines, more than 600" >&2; failed=1; }
done
for name in $(find src include -type d \( -name util -o -name utils -o -name common -o -name misc -o -name core \)); do
  echo "rules: no folder is called $name" >&2
  failed=1
done
[ $failed = 0 ] && echo "rules: ${#all[@]} files keep them"
exit $failed
