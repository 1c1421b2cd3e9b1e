#!/usr/bin/env bash
# osg_keras.sh SABATH SOURCE: the long checks of mnist, imdb and imbalanced: three seeds, one against two threads, shuffled labels, upstream's
# sizes and readers, and the study `hardware`. Minutes of one core, and the real package index.
set -euo pipefail
"$2/tests/integration/osg_keras_story.sh" "$1" "$2"
sabath=$1
tests=$2/tests/integration/osg_keras
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
"$sabath" env fetch mnist
"$sabath" env exec mnist -- python -B "$tests/upstream.py" "$2/recipes"
value() { "$sabath" show @last --json | python3 -c '
import json, sys
sys.path.insert(0, sys.argv[1])
from accept import metrics_of
print(metrics_of(json.load(sys.stdin))[sys.argv[2]])' "$tests" "$1"; }
below() { python3 -c 'import sys; sys.exit(not float(sys.argv[1]) < float(sys.argv[2]))' "$1" "$2" ||
  { echo "osg_keras: $1 is not below $2" >&2; exit 1; }; }
declare -A score=([mnist]=test_accuracy [imdb]=test_accuracy [imbalanced]=auc_pr) shuffled=([mnist]=0.25 [imdb]=0.6 [imbalanced]=0.05)
for recipe in mnist imdb imbalanced; do
  for seed in 1 2 3; do
    "$sabath" run "$recipe" --seed "$seed"
    "$sabath" show @last --json | python3 "$tests/accept.py" "$recipe"
    echo "osg_keras: $recipe, seed $seed: ${score[$recipe]} $(value "${score[$recipe]}")"
  done
  "$sabath" run "$recipe" --seed 3 --set threads=2
  "$sabath" compare @last~1 @last --across threads || true # the first difference is printed
  "$sabath" run "$recipe" --seed 1 --set labels=shuffled
  below "$(value "${score[$recipe]}")" "${shuffled[$recipe]}"
  "$sabath" run "$recipe" --study hardware --seed 1
  "$sabath" compare "recipe=$recipe,study=hardware" --by onednn,onednn_isa,openblas_core,numpy_without || true
done
