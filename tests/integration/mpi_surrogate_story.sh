#!/usr/bin/env bash
# mpi_surrogate_story.sh SABATH: the recipe mpi-surrogate in an empty home: its Fortran and C are built against the MPI of this machine,
# twice two ranks are equal enough, and so are one and three.
set -euo pipefail
sabath=$1
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
# What the recipe does not set itself must not be needed.
unset "${!OMPI_@}" "${!PRTE_@}"
small=(--seed 1 --set samples=64 --set epochs=20)
for ranks in 2 2 1 3; do
  "$sabath" run mpi-surrogate "${small[@]}" --set ranks=$ranks | tee "$work/out"
  grep -q 'train/surrogate_error' "$work/out"
done
for pair in '@last~3 @last~2' '@last~2 @last~1' '@last~2 @last'; do
  # shellcheck disable=SC2086 # two words
  "$sabath" compare $pair >"$work/out" || { cat "$work/out" >&2; exit 1; }
  grep -q 'RESULT *PASS' "$work/out"
done
"$sabath" env show --why mpi-surrogate @last | grep -q 'nothing differs'
"$sabath" env exec mpi-surrogate -- mpirun -n 2 stirring-simulate --help | grep -q -- '--samples'
