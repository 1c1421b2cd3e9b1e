#!/usr/bin/env bash
# digits_story.sh SABATH: the recipe digits as it is shipped, with its lock: packages from the real index, then no network.
# Needs PyPI (or the index of the user's pip) and the Python of the lock.
set -euo pipefail
sabath=$1
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
without_network=(unshare -n)
if ! "${without_network[@]}" true 2>/dev/null; then
  echo "story: no network namespace may be made here: the runs could reach the network"
  without_network=()
fi
"$sabath" env fetch digits
for _ in 1 2; do
  "${without_network[@]}" "$sabath" run digits --seed 1 --set epochs=5
done
"$sabath" compare @last~1 @last --require bitwise | tee "$work/out"
grep -q 'RESULT *PASS' "$work/out"
# NumPy's wheel brings its own OpenBLAS, whose functions have other names.
"$sabath" show @last | tee "$work/shown"
grep -q '^BLAS\( in stage time\)*  *OpenBLAS [0-9.]* ([A-Za-z0-9]*)' "$work/shown"
"$sabath" show --libraries @last >"$work/libraries"
grep -q 'libscipy_openblas64_.*\.so' "$work/libraries"
"$sabath" env exec digits -- python -c 'import sklearn; print(sklearn.__version__)'
"$sabath" env show --why digits @last | tee "$work/differs"
grep -q 'nothing differs' "$work/differs"
# Everything again from what the run kept, the cached stage too, whose output is not taken for granted.
"${without_network[@]}" "$sabath" repro @last --require bitwise | tee "$work/repeated"
grep -q 'RESULT *PASS' "$work/repeated"
"$sabath" show @last >"$work/shown"
if grep -q 'reused' "$work/shown"; then
  echo "story: the repetition reused a stage" >&2
  exit 1
fi
