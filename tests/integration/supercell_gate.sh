#!/usr/bin/env bash
# supercell_gate.sh SABATH SOURCE: the committed baseline gates the recipe, and code that is broken does not pass it.
set -euo pipefail
sabath=$1
source=$2
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
# breaks COPY FILE FROM TO: a copy of the recipe in which one line of the code is another.
breaks() {
  cp -r "$source/recipes/supercell" "$work/$1"
  grep -qF -- "$3" "$work/$1/code/$2" || { echo "gate: $2 has no '$3'" >&2; exit 1; }
  python3 -c 'import sys; p, a, b = sys.argv[1:]; t = open(p).read(); open(p, "w").write(t.replace(a, b, 1))' "$work/$1/code/$2" "$3" "$4"
}

baseline=$source/recipes/supercell/baseline.json
size=(--set cells_x=48 --set cells_z=36 --set snapshots=151 --set truth_cells=40 --baseline "$baseline")
small=(--seed 1 "${size[@]}" --require tolerance)
expect 0 "$sabath" check supercell --set epochs=2 "${small[@]}" --junit "$work/junit.xml" --markdown "$work/summary.md"
says '^RESULT +PASS'
python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and int(root.get("failures")) + int(root.get("errors")) == 0
assert len(root.findall("testsuite/testcase")) == int(root.get("tests")) > 6' "$work/junit.xml"
# Sums in another order differ in their last bits, and are within the tolerances.
expect 0 "$sabath" check supercell --set epochs=2 "${small[@]}" --set threads=2 --set reduction=fast
# Other seeds of the baseline; seed 6 is not in it and is judged by the spread of the five.
expect 0 "$sabath" check supercell --set epochs=2 "${size[@]}" --seeds 2..3 --require tolerance
expect 0 "$sabath" check supercell --set epochs=2 "${size[@]}" --seed 6
# A constant of the physics that is another; a sum that loses a term.
breaks physics src/atmosphere.h 'double gravity = 9.81;' 'double gravity = 9.80;'
expect 1 "$sabath" check "$work/physics" --set epochs=2 "${small[@]}" --junit "$work/junit.xml"
says '^RESULT +FAIL'
says 'the code is not that'
grep -q '<failure ' "$work/junit.xml"
says 'forecast/forecast_error'
breaks sums src/gradient.cpp 'total_[i] += part.gradient[i];' 'total_[i] = part.gradient[i];'
expect 1 "$sabath" check "$work/sums" --set epochs=2 "${small[@]}"
# Labels of other bubbles and times; one mode less.
breaks pairs src/forecast_main.cpp 'Terms::quadratic, Targets::true_ones' 'Terms::quadratic, Targets::shuffled'
expect 1 "$sabath" check "$work/pairs" --set epochs=2 "${small[@]}"
breaks modes src/reduced.h 'count = 24;' 'count = 23;'
expect 1 "$sabath" check "$work/modes" --set epochs=2 "${small[@]}"
says '^FAIL +forecast/forecast_error'
# A baseline is of what was run: not of other parameters, and not of another definition.
expect 4 "$sabath" check supercell --set epochs=3 "${small[@]}"
says 'parameter epochs is 3,'
says 'nothing was run'
breaks stages ../recipe.json '"--snapshots", "{param.snapshots}"' '"--snapshots", "299"'
expect 4 "$sabath" check "$work/stages" --set epochs=2 "${small[@]}"
says "the recipe's definition"
echo "gate: holds"
