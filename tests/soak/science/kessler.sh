#!/usr/bin/env bash
# kessler.sh SABATH SOURCE: three seeds on both kinds of states, the wider network, upstream's time step, shuffled labels, one and
# two cores, broken physics that the recipe's tests must find, and netCDF4 in both directions.
set -euo pipefail
sabath=$1
source=$2
recipe=$source/recipes/kessler
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export SABATH_HOME=$work/home
source "$source/tests/integration/expect.sh"
"$sabath" env build "$recipe" >/dev/null

# score TEXT: its number in the last answer.
score() { sed -nE "s/.*$1 (-?[0-9.e+-]+).*/\1/p" "$work/out" | head -1; }
above() { python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > float(sys.argv[2]))' "$1" "$2"; }
program() { expect 0 "$sabath" env exec "$recipe" -- "$@"; }

printf '%-28s %5s %8s %8s %8s %8s\n' states seed skill margin error rain
for states in columns cells; do
  for step in 10 0.698; do
    program kessler-data --states $states --time-step $step --out "$work/$states-$step.nc"
    for hidden in 10 32; do
      for seed in 1 2 3; do
        program kessler-train --data "$work/$states-$step.nc" --output "$work/out-$seed" --hidden $hidden --seed $seed
        says "^network of $([ $hidden = 10 ] && echo 104 || echo 324) parameters"
        skill=$(score 'lowest skill')
        margin=$(score 'lowest margin over least squares')
        program kessler-couple --weights "$work/out-$seed/weights.h5" --output "$work/out-$seed"
        read -r _ error rain water heat least < <(grep '^surrogate ' "$work/out")
        printf '%-28s %5s %8s %8s %8s %8s\n' "$states, $step s, $hidden units" $seed "$skill" "$margin" "$error" "$rain"
        above "$skill" 0.7 && above "$margin" 0.2 || fail "$states, seed $seed: not accepted:"
        above 1e-10 "$water" && above 1e-10 "$heat" && above "$least" -1e-300 || fail "the correction does not hold:"
      done
    done
  done
  program kessler-train --data "$work/$states-10.nc" --output "$work/shuffled" --labels shuffled
  echo "$states, shuffled labels: lowest skill $(score 'lowest skill')"
  above 0.1 "$(score 'lowest skill')" || fail "shuffled labels have a score:"
done

# The programs have one thread. More cores or OMP_NUM_THREADS change no bit.
expect 0 taskset -c 0 "$sabath" run "$recipe" --seed 5 --fresh
expect 0 env OMP_NUM_THREADS=2 "$sabath" run "$recipe" --seed 5 --fresh
expect 0 "$sabath" compare @last~1 @last --require bitwise
says '^RESULT +PASS'
echo "one core and all cores: equal to the bit"

# breaks FILE FROM TO: the tests of the recipe fail if this line of the code is another.
breaks() {
  rm -rf "$work/broken"
  cp -r "$recipe/code" "$work/broken"
  python3 -c 'import sys; p, a, b = sys.argv[1:]; t = open(p).read(); assert a in t, a; open(p, "w").write(t.replace(a, b, 1))' \
    "$work/broken/src/$1" "$2" "$3"
  cmake -S "$work/broken" -B "$work/broken/build" -DKESSLER_TESTS=ON >"$work/out" 2>&1
  cmake --build "$work/broken/build" >>"$work/out" 2>&1 || fail "does not compile: $3"
  ! "$work/broken/build/kessler-test" "$recipe/code/tests/data" >"$work/out" || fail "the tests do not find '$3' in $1:"
  echo "found: $3"
}
breaks microphysics.cpp 'autoconversion_rate = 1e-3' 'autoconversion_rate = 1.1e-3'
breaks microphysics.cpp 'accretion_rate = 2.2' 'accretion_rate = 2.1'
breaks microphysics.cpp 'vapour = std::max(total - cloud - rain, 0.0)' 'vapour = std::max(vapour - condensed, 0.0)'
breaks microphysics.cpp '(vapour - limit) / (1.0 + slope)' '(vapour - limit) / (1.0 + 0.9 * slope)'
breaks microphysics.cpp 'std::min({wanted, room, rain})' 'std::min(wanted, rain)'
breaks microphysics.cpp 'std::pow(content, 0.2046)' 'std::pow(content, 0.2)'
breaks column.cpp 'fallen += from_above' 'fallen += 0.999 * from_above'
breaks surrogate.cpp 'vapour = std::max(total - cloud - rain, 0.0)' 'vapour = std::max(cell.vapour + change[1], 0.0)'
breaks trainer.cpp 'random(seed, label_stream);' 'random(seed, label_stream); return;'
breaks network.cpp 'slope * delta' 'delta'
breaks samples.cpp 'above.vapour,' 'above.dry,'

# Python's netCDF4 reads what the recipe writes, and writes what the recipe reads.
if python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install netCDF4 2>"$work/err"; then
  "$work/venv/bin/python" "$recipe/code/tests/data/make_netcdf4.py" "$work/new.nc"
  program kessler-data --from file --file "$work/new.nc" --samples 1000 --out "$work/back.nc"
  says '^50 samples'
  "$work/venv/bin/python" - "$work/new.nc" "$work/back.nc" "$work/columns-10.nc" <<'END'
import sys
import netCDF4
import numpy
new, back, made = (netCDF4.Dataset(path) for path in sys.argv[1:])
for name in ("inputs", "outputs", "time_step_size"):
    assert numpy.array_equal(new[name][...], back[name][...]), name
assert made["inputs"].dimensions == ("nsamples", "num_vars_in", "sten_size"), made["inputs"].dimensions
assert made["inputs"].shape == (60000, 5, 2) and made["outputs"].shape == (60000, 4)
assert made["inputs"].dtype == numpy.float32 and made["time_step_size"][...] == 10
END
  echo "netCDF4 $("$work/venv/bin/python" -c 'import netCDF4; print(netCDF4.__version__)'): both directions"
else
  echo "not checked: netCDF4 could not be installed"
fi
echo "kessler: the science holds"
