#!/usr/bin/env bash
# cosmoflow_generator.sh SOURCE: invariants of the generated universes of cosmoflow, and of scores and checksums. Needs NumPy alone, which
# comes from the user's index where python3 has none.
set -euo pipefail
python=python3
if ! python3 -c 'import numpy' 2>/dev/null; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" --quiet --disable-pip-version-check install 'numpy>=2,<3'
  python=$work/venv/bin/python
fi
OPENBLAS_NUM_THREADS=1 "$python" -B "$1/tests/integration/cosmoflow/generator_test.py" "$1/recipes/cosmoflow/code"
