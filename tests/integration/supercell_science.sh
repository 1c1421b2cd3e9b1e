#!/usr/bin/env bash
# supercell_science.sh SOURCE BUILD: builds the code of the recipe with its own tests and runs them: mass, order, rise, errors
# against persistence, equality to the bit for any number of threads.
set -euo pipefail
cmake -S "$1/recipes/supercell/code" -B "$2" -DSUPERCELL_TESTS=ON -DCMAKE_BUILD_TYPE=Release >"$2.configure.log" 2>&1 ||
  { cat "$2.configure.log" >&2; exit 1; }
cmake --build "$2" -j "$(nproc)"
cd "$2"
ctest --output-on-failure
