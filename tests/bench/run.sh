#!/bin/bash
# Measures sabath against named references and prints ratios; asserts nothing. See README.md.
#   run.sh SABATH [N]      SABATH: the program to measure; N: repetitions of each side (20 or more)
set -euo pipefail
here=$(dirname "$0")
if [[ -z ${REFERENCE_TOOLS:-} ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  export REFERENCE_TOOLS=$folder/references
fi
python3 "$here/bench.py" "$@"
python3 "$here/run_bench.py" "$@"
python3 "$here/opens_bench.py" "$1"
python3 "$here/catalog_bench.py" "$@"
python3 "$here/verify.py" "$1"
python3 "$here/env_bench.py" "$1"
python3 "$here/collect_bench.py" "$1"
python3 "$here/groups_bench.py" "$@"
python3 "$here/report_bench.py" "$@"
python3 "$here/compare_bench.py" "$@"
if [[ -x $(dirname "$1")/verdict_bench ]]; then "$(dirname "$1")/verdict_bench"; fi
python3 "$here/arrays_bench.py" "$@"
python3 "$here/exchange_bench.py" "$@"
python3 "$here/view_bench.py" "$1"
if [[ $EUID = 0 ]] && command -v slurmctld >/dev/null; then python3 "$here/batch_bench.py" "$1"; fi
