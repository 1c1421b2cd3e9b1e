#!/usr/bin/env bash
# framework_story.sh SABATH: a recipe that needs a deep-learning framework on the CPU (JAX), from the real index: locked for
# all variants, fetched, run twice without a network, compared; then from an image.
set -euo pipefail
sabath=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home SABATH_CONFIG=$work/config
mkdir -p "$work/home/recipes" "$work/config"
cp -r "$here/flow" "$work/home/recipes/flow"
printf '{"schema": 1, "environments": {"local": "%s"}}' "$work/local" >"$work/config/config.json"
mkdir "$work/local"
"$sabath" env lock flow >"$work/lock"
[ "$(grep -c '"request"' "$work/home/recipes/flow/environment.lock.json")" = 2 ] # one for each variant
"$sabath" env fetch flow
without_network=(unshare -n)
"${without_network[@]}" true 2>/dev/null || without_network=()
for _ in 1 2; do
  "${without_network[@]}" "$sabath" run flow --seed 7 --offline
done
"$sabath" compare @last~1 @last --require bitwise | tee "$work/out"
grep -q 'RESULT *PASS' "$work/out"
! "${without_network[@]}" "$sabath" env build flow --variant plain --offline 2>"$work/out"
grep -q 'not in the cache: packaging' "$work/out" # only the first variant's files were fetched
"$sabath" env pack flow
"$sabath" env exec flow --packed -- python -c 'import jax; print("from the image: jax", jax.__version__)' | grep 'from the image'
"$sabath" env exec flow --packed -- sh -c 'grep -q "$(dirname "$(dirname "$(command -v python)")")" /proc/self/mountinfo'
