#!/usr/bin/env bash
# backends_story.sh SABATH: the worked example of a design-space exploration, as its page tells it.
set -euo pipefail
sabath=$1
example=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../docs/examples/backends" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
cp -r "$example" "$work/backends"
cd "$work"
fail() { echo "story: $*" >&2; exit 1; }

"$sabath" show ./backends | tee show
grep -q 'infer' show || fail "the task is not shown"
"$sabath" run ./backends --study backends --dry-run | tee dry
grep -q '^12 run(s) of backends' dry || fail "not 12 runs"

"$sabath" run ./backends --study backends
[ "$("$sabath" --json list runs | grep -c '"state": "ok"')" = 12 ] || fail "not 12 runs that are ok"
"$sabath" show recipe=backends,backend=c,points=800,seed=2 | grep -q 'backend = c' || fail "the run in C is not found"
grep -lq '"name": "infer"' "$SABATH_HOME"/runs/*/record.json && fail "a plain run must not infer"

"$sabath" run ./backends --set backend=python --seed 1
"$sabath" run ./backends --set backend=c --seed 1
"$sabath" compare @last~1 @last --require bitwise | tee out
grep -q 'RESULT *PASS' out || fail "C and Python differ"
grep -q 'seconds' out || fail "their times are not shown"
"$sabath" run ./backends --set backend=awk --seed 1
"$sabath" compare @last~1 @last | grep -q 'RESULT *PASS' || fail "C and awk differ"

"$sabath" run ./backends --task infer --study backends
"$sabath" show task=infer,backend=awk,points=200,seed=1 | grep -q 'task *infer' || fail "the inference is not found"
inferred=$(grep -l '"task": "infer"' "$SABATH_HOME"/runs/*/record.json)
[ "$(wc -w <<<"$inferred")" = 12 ] || fail "not 12 runs of the task"
for record in $inferred; do
  python3 - "$record" <<'PY' || fail "$record"
import json, sys
record = json.load(open(sys.argv[1]))
states = {stage["name"]: stage["state"] for stage in record["stages"]}
assert states == {"data": "reused", "train": "reused", "infer": "ok"}, states
names = {metric["name"] for metric in record["metrics"]}
assert {"loss", "seconds", "worst", "latency"} <= names, names
PY
done
# The same points, and equal lines of all backends, lie on the disk once.
inodes=$(stat -c %i "$SABATH_HOME"/runs/*/outputs/data/points.txt | sort -u | wc -l)
[ "$inodes" = 4 ] || fail "$inodes files of points for 2 sizes and 2 seeds"
inodes=$(stat -c %i "$SABATH_HOME"/runs/*/outputs/train/line.txt | sort -u | wc -l)
[ "$inodes" = 4 ] || fail "$inodes different lines of 3 backends"
echo "story: told"
