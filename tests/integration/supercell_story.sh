#!/usr/bin/env bash
# supercell_story.sh SABATH: the story of the README on real input, in an empty home.
set -euo pipefail
sabath=$1
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"

expect 0 "$sabath" fetch supercell-bubbles
says 'supercell.h5 .* sha256:[0-9a-f]{64}'
small=(--seed 1 --set epochs=1 --set truth_cells=40)
expect 0 "$sabath" run supercell "${small[@]}" --set threads=1
says 'simulate reused'
expect 0 "$sabath" run supercell "${small[@]}" --set threads=2
expect 0 "$sabath" run supercell "${small[@]}" --set threads=2 --set reduction=fast
expect 0 "$sabath" compare @last~2 @last~1 --require bitwise
says 'RESULT +PASS'
expect 0 "$sabath" compare @last~1 @last
says 'RESULT +PASS'
says 'diverges +train/loss at step'
expect 1 "$sabath" compare @last~1 @last --require bitwise
says 'RESULT +FAIL'
expect 0 "$sabath" run supercell "${small[@]}" --set threads=1 --set reduction=fast
for pair in '@last @last~1' '@last~1 @last'; do
  read -r a b <<<"$pair"
  expect 0 "$sabath" compare "$a" "$b"
  says '^differs in +A +B$'
  says '^parameters: threads '
  says 'RESULT +PASS: bitwise until step [0-9]+ .*of train/loss, tolerance holds'
  expect 1 "$sabath" compare "$a" "$b" --require bitwise
  says 'RESULT +FAIL'
done
expect 0 "$sabath" verify @last
expect 0 "$sabath" verify --full
echo "story: told"
