#!/bin/bash
# Measures sabath against named references and prints ratios; asserts nothing. See README.md.
#   run.sh SABATH [N]      SABATH: the program to measure; N: repetitions of each side (20 or more)
set -euo pipefail
here=$(dirname "$0")
python3 "$here/bench.py" "$@"
python3 "$here/verify.py" "$1"
python3 "$here/env_bench.py" "$1"
python3 "$here/collect_bench.py" "$1"
