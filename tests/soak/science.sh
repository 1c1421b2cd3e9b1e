#!/usr/bin/env bash
# science.sh SABATH [RECIPE...]: the long checks of recipes' science, one program for each recipe in tests/soak/science.
# Without a name all of them run. They need minutes, and some need a package index.
set -euo pipefail
sabath=$(realpath "$1")
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
if [ $# = 0 ]; then
  for file in "$here"/science/*; do
    name=${file##*/}
    set -- "$@" "${name%.*}"
  done
fi
failed=0
for name; do
  program=$(find "$here/science" -maxdepth 1 -name "$name.*" -perm -u+x | head -1)
  [ -n "$program" ] || { echo "science: no program for the recipe '$name' in $here/science" >&2; exit 2; }
  echo "science: $name"
  "$program" "$sabath" "$source" || { echo "science: $name failed" >&2; failed=1; }
done
exit $failed
