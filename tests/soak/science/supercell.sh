#!/usr/bin/env bash
# supercell.sh SABATH SOURCE: three seeds at full size, one and two threads, and the acceptance: an error below a tenth of
# persistence and of the nearest training bubble's third, at a fifth of the cost of a coarse solver or less.
set -euo pipefail
sabath=$1
source=$2
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
source "$source/tests/integration/expect.sh"

expect 0 "$sabath" run "$source/recipes/supercell" --seeds 1..3
expect 0 "$sabath" run "$source/recipes/supercell" --seed 3 --set threads=2
expect 0 "$sabath" compare @last~1 @last --require bitwise
says '^RESULT +PASS'
find "$work/home/runs" -name frontier.csv | while read -r table; do
  python3 - "$table" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
error = {row["method"]: float(row["error"]) for row in rows if row["method"] != "coarse solver"}
cost = float(next(row["cost_s"] for row in rows if row["method"] == "surrogate"))
rivals = [float(row["cost_s"]) for row in rows if row["method"] == "coarse solver" and float(row["error"]) <= 2 * error["surrogate"]]
assert error["surrogate"] < 0.03, error
assert error["surrogate"] < 0.1 * error["persistence"] and 3 * error["surrogate"] < error["nearest training bubble"], error
assert rivals and min(rivals) > 5 * cost, (rivals, cost)
print(f"error {error['surrogate']:.4f}, cost {cost:.6f} s, cheapest solver within twice the error {min(rivals):.4f} s")
END
done
