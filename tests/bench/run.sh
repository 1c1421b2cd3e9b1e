#!/bin/bash
# Measures sabath against named references and prints ratios; asserts nothing. See README.md.
#   run.sh SABATH [N]      SABATH: the program to measure; N: repetitions of each side (20 or more)
set -euo pipefail
exec python3 "$(dirname "$0")/bench.py" "$@"
