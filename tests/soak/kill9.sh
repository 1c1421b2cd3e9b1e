#!/bin/bash
# Runs and fetches while kill -9 hits sabath run, sabath exec, the user's process or sabath fetch at random moments; then
# nothing may be broken, and nothing may claim to be what it is not.
#   kill9.sh SABATH        SABATH_SOAK_ROUNDS: how many rounds (default 10); SABATH_SOAK_SEED: of the random moments
source "$(dirname "$0")/frame.sh"
rounds=${SABATH_SOAK_ROUNDS:-10}
declare -A hits=([run]=0 [exec]=0 [user]=0 [fetch]=0 [missed]=0)

# The last stage is what a user's program would be: it takes a while, and its outputs come one after the other.
mkdir -p "$SABATH_HOME/recipes/soak"
cat >"$SABATH_HOME/recipes/soak/recipe.json" <<'JSON'
{"schema": 1, "name": "soak",
 "parameters": {"letter": {"type": "enum", "values": ["a", "b", "c", "d"], "default": "a"}},
 "stages": [
   {"name": "make", "cache": true, "outputs": ["one", "deep/two"], "run": ["/bin/sh", "-c",
     "mkdir -p \"$1/deep\" && head -c 1500000 /dev/zero | tr '\\0' \"$2\" >\"$1/one\" && cp \"$1/one\" \"$1/deep/two\"",
     "make", "{output}", "{param.letter}"]},
   {"name": "use", "needs": ["make"], "outputs": ["three", "four"], "run": ["/bin/sh", "-c",
     "cp \"$2/one\" \"$1/three\" && sleep 0.2 && echo '{{\"loss\": 0.5}}' >>\"$SABATH_METRICS\" && cp \"$2/deep/two\" \"$1/four\"",
     "use", "{output}", "{stage.make}"]}]}
JSON
for letter in a b c d; do head -c 1500000 /dev/zero | tr '\0' $letter >"$folder/expected.$letter"; done

# Milliseconds of wall time.
now_ms() { echo $(($(date +%s%N) / 1000000)); }

children_of() { cat "/proc/$1"/task/*/children 2>/dev/null; }

# child_of PID: a child of it, as soon as there is one; nothing when it ends without.
child_of() {
  local child=""
  for ((tries = 0; tries < 400; ++tries)); do
    read -r child _ <<<"$(children_of "$1")"
    [[ -n $child ]] && echo "$child" && return
    kill -0 "$1" 2>/dev/null || return
    sleep 0.005
  done
}

# pause_below LIMIT_MS: sleeps for a random time, anywhere from nothing to a little beyond the limit.
pause_below() { sleep "$(printf '%d.%03d' $((RANDOM * $1 / 30000 / 1000)) $((RANDOM * $1 / 30000 % 1000)))"; }

# hit WHAT RUN: at some moment kills RUN itself, its exec, or the user's process beneath that.
hit() {
  local what=$1 victim=$2
  [[ $what == run ]] || victim=$(child_of "$victim")
  if [[ -n $victim ]]; then
    pause_below $((run_ms / 2))
    [[ $what == user ]] && victim=$(child_of "$victim")
  fi
  if [[ -n $victim ]] && kill -9 "$victim"; then
    hits[$what]=$((hits[$what] + 1))
  else
    hits[missed]=$((hits[missed] + 1))
  fi
}

"$sabath" -q run soak >/dev/null || problem "an undisturbed run fails" # and looks at the host, once
begin=$(now_ms)
"$sabath" -q run soak --fresh >/dev/null || problem "an undisturbed run fails"
run_ms=$(($(now_ms) - begin))
head -c 6000000 /dev/urandom >"$folder/source.0"
begin=$(now_ms)
"$sabath" -q fetch "file://$folder/source.0" >/dev/null || problem "an undisturbed fetch fails"
fetch_ms=$(($(now_ms) - begin))

letters=(a b c d)
victims=(run exec user)
for ((round = 1; round <= rounds; ++round)); do
  letter=${letters[RANDOM % 4]}
  fresh=()
  ((RANDOM % 2)) && fresh=(--fresh)
  ((RANDOM % 4 == 0)) && rm -rf "$SABATH_CACHE/stages"
  head -c 6000000 /dev/urandom >"$folder/source.$((round % 3))"
  "$sabath" -q run soak --set letter=$letter "${fresh[@]}" >/dev/null 2>&1 &
  run=$!
  "$sabath" -q fetch "file://$folder/source.$((RANDOM % 3))" >/dev/null 2>&1 &
  fetch=$!
  # Two at once on purpose: the second moment falls where the first left something behind.
  (pause_below $((fetch_ms * 5 / 4)); kill -9 $fetch 2>/dev/null && echo hit >>"$folder/fetch.hits") &
  timer=$!
  hit "${victims[RANDOM % 3]}" $run
  wait $run $fetch $timer
done 2>/dev/null # where the shell tells of every process that was killed
[[ -f $folder/fetch.hits ]] && hits[fetch]=$(wc -l <"$folder/fetch.hits")

nobody_is_left

"$sabath" -q verify --full >"$folder/verify.txt" 2>&1 || problem "verify --full: $(cat "$folder/verify.txt")"
index_is_right "$sabath" -q catalog reindex

ok=0
ended=0
for run in "$SABATH_HOME"/runs/soak-*; do
  ended=$((ended + 1))
  [[ -f $run/status.json ]] || continue
  grep -q '^  "state": "ok"' "$run/status.json" || continue
  ok=$((ok + 1))
  [[ -f $run/record.json ]] || problem "$run: ok without a record"
  letter=$(grep -o '"letter": "[a-d]"' "$run/record.json" | head -n 1 | cut -d '"' -f 4)
  for output in make/one make/deep/two use/three use/four; do
    cmp -s "$run/outputs/$output" "$folder/expected.$letter" || problem "$run: ok, but $output is not what it must be"
  done
  "$sabath" -q verify "$(basename "$run")" >"$folder/verify.txt" 2>&1 || problem "$run: $(cat "$folder/verify.txt")"
done

objects=0
while IFS= read -r object; do
  objects=$((objects + 1))
  name=${object#"$SABATH_CACHE/objects/sha256/"}
  [[ $(sha256sum <"$object") == "${name/\//}  -" ]] || problem "$object: passes for an object and is none"
done < <(find "$SABATH_CACHE/objects" -type f)

for letter in a b c d; do
  "$sabath" -q run soak --set letter=$letter >/dev/null 2>&1 || problem "a run after all of it fails"
done

echo "$rounds rounds: killed ${hits[run]} run, ${hits[exec]} exec, ${hits[user]} user's, ${hits[fetch]} fetch;" \
  "${hits[missed]} came too late; $ended runs, $ok of them ok; $objects objects; $problems problems"
((problems == 0))
