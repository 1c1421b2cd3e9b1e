#!/usr/bin/env bash
# mpi-surrogate.sh SABATH SOURCE: builds the code of the recipe with its own tests and runs them on up to four ranks: mass, order, errors
# against a fit, equality for any number of ranks.
set -euo pipefail
source=$2
build=$(mktemp -d)/build
trap 'rm -rf "${build%/build}"' EXIT
cmake -S "$source/recipes/mpi-surrogate/code" -B "$build" -DSTIRRING_TESTS=ON -DCMAKE_BUILD_TYPE=Release >"$build.configure.log" 2>&1 ||
  { cat "$build.configure.log" >&2; exit 1; }
cmake --build "$build" -j "$(nproc)"
cd "$build"
ctest --output-on-failure
