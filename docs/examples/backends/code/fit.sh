#!/bin/sh
# fit.sh BACKEND CODE POINTS EPOCHS RESULT: the same arithmetic in the same order, whatever computes.
set -eu
backend=$1 code=$2 points=$3 epochs=$4 result=$5
case $backend in
  python) fit="python3 $code/fit.py" ;;
  awk) fit="awk -f $code/fit.awk" ;;
  c) cc -O2 -ffp-contract=off -o fit "$code/fit.c" && fit=./fit ;;
  *) echo "no backend '$backend'" >&2; exit 2 ;;
esac
begin=$(date +%s.%N)
EPOCHS=$epochs $fit <"$points" >"$result"
end=$(date +%s.%N)
awk -v begin="$begin" -v end="$end" 'BEGIN {printf "seconds=%.6f\n", end - begin}'
awk '{print "loss=" $3}' "$result"
