#!/bin/bash
# Many processes 'sabath run' at once that end in one catalog, which is removed while they run; then every run is there, each
# with the end that it had, and who said that it was good has a record that says so too.
#   many_runs.sh SABATH    SABATH_SOAK_RUNS: how many (default 500); SABATH_SOAK_AT_ONCE: how many of them at a time (default all)
source "$(dirname "$0")/frame.sh"
runs=${SABATH_SOAK_RUNS:-500}
at_once=${SABATH_SOAK_AT_ONCE:-$runs}

# Every tenth fails: a run that ends badly must not get lost among the good ones, nor pass for one.
for program in true false; do
  mkdir -p "$SABATH_HOME/recipes/soak-$program"
  echo '{"schema": 1, "name": "soak-'$program'", "environment": {"layers": []}, "stages": [{"name": "go", "run": ["'$program'"]}]}' \
    >"$SABATH_HOME/recipes/soak-$program/recipe.json"
done
"$sabath" -q run soak-true >/dev/null || problem "an undisturbed run fails" # and looks at the host, once

# one NUMBER: a run; a line "NUMBER STATUS" is left.
one() {
  local program=true
  (($1 % 10 == 0)) && program=false
  "$sabath" -q run soak-$program --seed "$1" >"$folder/out.$1" 2>&1
  echo "$1 $?" >>"$folder/ended"
}

begin=$(date +%s%N)
removed=no most=0
: >"$folder/ended"
# In the middle of it, the index goes.
look() {
  local now
  now=$(jobs -rp | wc -l)
  ((now > most)) && most=$now
  if [[ $removed == no ]] && (($(wc -l <"$folder/ended") >= runs / 2)); then
    rm "$SABATH_HOME/catalog.db" && removed=yes
  fi
  ((now >= $1))
}
for ((number = 1; number <= runs; ++number)); do
  while look "$at_once"; do sleep 0.01; done
  one $number &
done
while look 1; do sleep 0.02; done
wait
took_ms=$((($(date +%s%N) - begin) / 1000000))
[[ $removed == yes ]] || problem "the catalog was not removed in between"

while read -r number status; do
  expected=0
  ((number % 10 == 0)) && expected=1
  ((status == expected)) || problem "run $number exits with $status: $(cat "$folder/out.$number")"
done <"$folder/ended"
(($(wc -l <"$folder/ended") == runs)) || problem "$(wc -l <"$folder/ended") of $runs processes ended"

nobody_is_left
index_is_right rm "$SABATH_HOME/catalog.db"
python3 - "$SABATH_HOME" "$runs" "$folder/listed" <<'P' || problems=$((problems + 1))
import json, pathlib, re, sys
home, runs, listed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]).read_text()
bad, seeds = 0, {"ok": set(), "failed": set()}
def problem(text):
    global bad
    bad += 1
    print("PROBLEM:", text)
for folder in sorted((home / "runs").glob("soak-*")):
    record = json.loads((folder / "record.json").read_text())
    state = json.loads((folder / "status.json").read_text())["state"]
    wanted = "failed" if folder.name.startswith("soak-false-") else "ok"
    if (state, record["state"]) != (wanted, wanted):
        problem(f"{folder.name} is {state}, with a record of {record['state']}; it must be {wanted}")
    if not re.search(rf"^\s*{folder.name}\s.*\b{wanted}\b", listed, re.M):
        problem(f"{folder.name} is not listed as {wanted}")
    if record["seed"]["origin"] == "option":
        seeds[record["state"]].add(record["seed"]["value"])
everybody = set(range(1, runs + 1))
failing = {n for n in everybody if n % 10 == 0}
for state, expected in (("failed", failing), ("ok", everybody - failing)):
    if seeds[state] != expected:
        problem(f"{state} is not the end of those runs of which it must be: {sorted(seeds[state] ^ expected)}")
left = [path.name for path in (home / "runs" / ".inbox").iterdir()]
if left:
    problem(f"still in the inbox: {left}")
sys.exit(bad > 0)
P
echo "$runs runs, up to $most at once: $((took_ms / 1000)).$(printf '%03d' $((took_ms % 1000))) s; $problems problems"
((problems == 0))
