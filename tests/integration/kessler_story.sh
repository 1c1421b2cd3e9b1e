#!/usr/bin/env bash
# kessler_story.sh SABATH SOURCE: the recipe kessler in an empty home: its own tests (water, enthalpy, saturation, rates, leaks,
# bad files), a short run, its repetition, another seed, and data that the layout does not allow.
set -euo pipefail
sabath=$1
source=$2
recipe=$source/recipes/kessler
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
source "$(dirname "${BASH_SOURCE[0]}")/expect.sh"
# holds EXPRESSION: true of the metrics m of the last run.
holds() {
  "$sabath" show @last --json >"$work/run.json"
  python3 - "$work/run.json" "$1" <<'END' || fail "not true: $1"
import json, sys
found = []
def walk(value):
    if isinstance(value, dict):
        if "name" in value and "last" in value and "points" in value:
            found.append((value["name"], value["last"]))
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            walk(item)
walk(json.load(open(sys.argv[1])))
m = dict(found)
assert len(m) > 30, len(m)
sys.exit(0 if eval(sys.argv[2]) else 1)
END
}

expect 0 "$sabath" run "$recipe" --seed 1
holds 'm["skill"] > 0.7 and m["margin"] > 0.2'
holds 'm["scheme_water_drift"] < 1e-10 and m["column_water_drift"] < 1e-10 and m["column_heat_drift"] < 1e-10'
holds 'm["column_least_density"] >= 0 and m["column_failed_step"] == 0 and m["column_scheme_rain"] > 1'
expect 0 "$sabath" env exec "$recipe" -- kessler-test "$recipe/code/tests/data"
says '^all checks hold$'
# The same seed gives the same bits, also if nothing is reused. Another seed gives other bits.
expect 0 "$sabath" run "$recipe" --seed 1 --fresh
expect 0 "$sabath" compare @last~1 @last --require bitwise
says '^RESULT +PASS'
expect 0 "$sabath" run "$recipe" --seed 2
says 'data reused'
holds 'm["skill"] > 0.7 and m["margin"] > 0.2'
expect 1 "$sabath" compare @last~1 @last
says '^RESULT +FAIL'
says 'diverges +train/loss at step 1 '
# A file of netCDF4, in the layout of upstream's.
expect 0 "$sabath" env exec "$recipe" -- kessler-data --samples 2000 --out "$work/good.nc"
short=(--seed 1 --set data=file --set epochs=1)
expect 0 "$sabath" run "$recipe" "${short[@]}" --set file="$work/good.nc"
expect 0 "$sabath" logs @last --stage data
says "the second column of 'inputs' \(the cell above\) is not used"
# Bad input: which file, which array, what was expected.
head -c 30000 "$work/good.nc" >"$work/cut.nc"
expect 1 "$sabath" run "$recipe" "${short[@]}" --set file="$work/cut.nc"
says 'cut.nc: is cut short or damaged \(truncated file'
expect 1 "$sabath" run "$recipe" "${short[@]}" --set file="$recipe/recipe.json"
says 'recipe.json: is not an HDF5 file \(expected HDF5 or NetCDF-4\)'
expect 1 "$sabath" run "$recipe" "${short[@]}"
says '[-]-file is required with --from file'
# Training that diverges stops and names the step.
expect 1 "$sabath" run "$recipe" --seed 1 --set samples=2000 --set learning_rate=1e200
says 'the loss is not finite at step [0-9]+ \(epoch 1\)'
# A missing library: what to install.
expect 1 cmake -S "$recipe/code" -B "$work/build" -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON
grep -q 'apt install libhdf5-dev' "$work/err" || fail "the message does not say what to install:"
echo "kessler: holds"
