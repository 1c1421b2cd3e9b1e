#!/usr/bin/env bash
# locks.sh FILE...: whether the locks of the recipes that the files belong to are current. A file belongs to the next recipe above.
set -euo pipefail
declare -A recipes=()
for file; do
  folder=$(dirname -- "$file")
  while [ ! -f "$folder/recipe.json" ] && [ "$folder" != . ] && [ "$folder" != / ]; do
    folder=$(dirname -- "$folder")
  done
  [ ! -f "$folder/recipe.json" ] || recipes[./$folder]=1
done
[ ${#recipes[@]} = 0 ] || exec sabath validate --ready "${!recipes[@]}"
