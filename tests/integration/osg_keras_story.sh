#!/usr/bin/env bash
# osg_keras_story.sh SABATH SOURCE: mnist as it is shipped: packages from the real index, then without a network a whole run with its
# acceptance, two small runs of each recipe that are equal to the bit, and a training that stops at a loss that is no number.
set -euo pipefail
sabath=$1
tests=$2/tests/integration/osg_keras
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
without_network=(unshare -n)
"${without_network[@]}" true 2>/dev/null || without_network=()
run() { "${without_network[@]}" "$sabath" run "$@"; }
"$sabath" env fetch mnist
run mnist --seed 1
"$sabath" show @last --json | python3 "$tests/accept.py" mnist
declare -A small=(
  [mnist]="--set images=600 --set test_images=200 --set writers=12 --set epochs=1"
  [imdb]="--set reviews=320 --set test_reviews=100 --set epochs=1"
  [imbalanced]="--set transactions=4000 --set frauds=60 --set epochs=2"
)
for recipe in mnist imdb imbalanced; do
  # shellcheck disable=SC2086
  for _ in 1 2; do run "$recipe" --seed 1 ${small[$recipe]}; done
  "$sabath" compare @last~1 @last --require bitwise | tee "$work/out"
  grep -q 'RESULT *PASS' "$work/out"
done
# shellcheck disable=SC2086
if run imbalanced --seed 1 ${small[imbalanced]} --set learning_rate=1e30 >"$work/out" 2>&1; then
  echo "story: a training without numbers ended well" >&2
  exit 1
fi
cat "$work/out"
grep -q 'step [0-9]* of epoch [0-9]*: the loss is' "$work/out"
