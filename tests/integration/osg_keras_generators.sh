#!/usr/bin/env bash
# osg_keras_generators.sh SOURCE: invariants of the generators of mnist, imdb and imbalanced, their scores, layouts and bad inputs. Needs a
# Python that has NumPy; without one it makes a virtual environment from the real index.
set -euo pipefail
source=$1
tests=$source/tests/integration/osg_keras
python=python3
if ! python3 -c 'import numpy' 2>/dev/null; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/python"
  "$work/python/bin/pip" install --quiet 'numpy>=2,<3'
  python=$work/python/bin/python
fi
"$python" -B "$tests/scores_test.py" "$source/recipes/mnist/code"
for recipe in mnist imdb imbalanced; do
  "$python" -B "$tests/${recipe}_test.py" "$source/recipes/$recipe/code"
done
