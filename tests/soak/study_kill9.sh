#!/bin/bash
# Studies whose driver, executors and programs are killed with -9 at random moments, and which are resumed until they are
# complete: no point may be lost or done twice, and every run must be told as what it is.
#   study_kill9.sh SABATH        SABATH_SOAK_ROUNDS: how many studies (default 3); SABATH_SOAK_SEED: of the random moments
source "$(dirname "$0")/frame.sh"
rounds=${SABATH_SOAK_ROUNDS:-3}
kills=0 resumes=0

points=12
mkdir -p "$SABATH_HOME/recipes/soak"
cat >"$SABATH_HOME/recipes/soak/recipe.json" <<'JSON'
{"schema": 1, "name": "soak",
 "parameters": {"n": {"type": "int", "default": 0}},
 "stages": [{"name": "go", "resources": {"cpus": 1}, "run": {"shell":
   "echo {param.n} begins >>\"$SOAK_MARK/log\"; sleep 0.2; echo '{{\"loss\": 0.5}}' >>\"$SABATH_METRICS\"; echo {param.n} ends >>\"$SOAK_MARK/log\""}}]}
JSON
values=$(seq -s, 1 $points)
jobs=1
(($(nproc) > 1)) && jobs=2

# A process of this soak that is one of the words' kind, by chance; nothing where there is none.
# The driver has "run" as its argument, an executor "exec", the user's program neither.
victim() {
  local found=()
  while IFS= read -r environ; do
    local pid=${environ#/proc/} words
    pid=${pid%/environ}
    words=" $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) "
    case $1 in
      driver) [[ $words == *"sabath"*" run "* ]] && found+=("$pid") ;;
      exec) [[ $words == *"sabath"*" exec "* ]] && found+=("$pid") ;;
      user) [[ $words == *" sleep 0.2 "* ]] && found+=("$pid") ;;
    esac
  done < <(left_alive)
  ((${#found[@]})) && echo "${found[RANDOM % ${#found[@]}]}"
}

kinds=(driver exec user)
for ((round = 1; round <= rounds; ++round)); do
  command=(run soak --sweep "n=$values" --seed 1 --jobs $jobs)
  id=""
  for ((attempt = 0; attempt < 60; ++attempt)); do
    "$sabath" -q "${command[@]}" >"$folder/out" 2>&1 &
    driver=$!
    # The last attempts are left alone, so that it ends.
    if ((attempt < 15)); then
      for ((hit = 0; hit < 3; ++hit)); do
        sleep "0.$(printf '%03d' $((RANDOM % 300)))"
        pid=$(victim "${kinds[RANDOM % 3]}")
        [[ -n $pid ]] && kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
      done
    fi
    wait $driver
    status=$?
    # Killed before it had made anything: it is asked for once more.
    [[ -n $id ]] || id=$(ls "$SABATH_HOME/studies" 2>/dev/null | sort | sed -n "${round}p")
    [[ -n $id && -f $SABATH_HOME/studies/$id/study.json ]] || continue
    ((status == 0)) && break
    ((status == 137 || status == 1 || status == 14)) || problem "status $status: $(cat "$folder/out")"
    command=(run --resume "$id" --retry)
    resumes=$((resumes + 1))
  done
  ((status == 0)) || problem "study $id does not come to its end: status $status, $(cat "$folder/out")"
done 2>/dev/null # where the shell tells of every process that was killed

nobody_is_left
index_is_right rm "$SABATH_HOME/catalog.db"

python3 - "$SABATH_HOME" "$points" "$folder/log" <<'P' || problems=$((problems + 1))
import collections, json, pathlib, sys
home, points, log = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
bad = 0
ok = collections.Counter()
states = collections.Counter()
for folder in (home / "runs").glob("soak-*"):
    status = folder / "status.json"
    if not status.exists():
        states["not planned"] += 1
        continue
    plan = json.loads((folder / "plan.json").read_text())
    said = json.loads(status.read_text())["state"]
    record = folder / "record.json"
    # Killed between the two, a run has its record and a status that goes on: the record counts.
    state = json.loads(record.read_text())["state"] if record.exists() else said
    states[state] += 1
    if state == "ok":
        ok[plan["study_id"], plan["study_point"]] += 1
    if said not in (state, "running") or (state in ("ok", "failed", "interrupted", "lost")) != record.exists():
        print(f"PROBLEM: {folder.name} is {said}, with a record that says {state}: {record.exists()}")
        bad = 1
for study in (home / "studies").iterdir():
    if not (study / "study.json").exists():
        continue
    for point in range(points):
        if ok[study.name, point] != 1:
            print(f"PROBLEM: point {point} of {study.name} is ok {ok[study.name, point]} times")
            bad = 1
begun = collections.Counter(log.read_text().split("\n"))
ends = sum(count for line, count in begun.items() if line.endswith("ends"))
print(", ".join(f"{count} {state}" for state, count in sorted(states.items())) + f"; {ends} programs came to their end")
sys.exit(bad)
P
echo "$rounds studies of $points points: $kills kills, $resumes resumes; $problems problems"
((problems == 0))
