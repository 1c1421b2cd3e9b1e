#!/usr/bin/env bash
# mpi_surrogate_science.sh SOURCE BUILD: builds the code of the recipe with its own tests and runs them on up to four ranks: mass,
# order, errors against a fit, equality for any number of ranks.
set -euo pipefail
cmake -S "$1/recipes/mpi-surrogate/code" -B "$2" -DSTIRRING_TESTS=ON -DCMAKE_BUILD_TYPE=Release >"$2.configure.log" 2>&1 ||
  { cat "$2.configure.log" >&2; exit 1; }
cmake --build "$2" -j "$(nproc)"
cd "$2"
ctest --output-on-failure
