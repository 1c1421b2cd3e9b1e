#!/usr/bin/env python3
"""cosmoflow.py SABATH SOURCE: three seeds, three sets of universes, two threads, shuffled labels, and the network of MLPerf in training.

SABATH_HOME of the environment is used, if set, so that a built environment serves again.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SABATH, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/integration/cosmoflow"))
from accept import last_values, misses

failed = []


def sabath(*arguments, expect=0):
    done = subprocess.run([SABATH, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode != expect:
        sys.exit(f"{' '.join(arguments)}: exit status {done.returncode}, expected {expect}\n{done.stdout}")
    return done.stdout


def run(seed, **parameters):
    """Last values of the metrics of a run."""
    settings = [word for name, value in parameters.items() for word in ("--set", f"{name}={value}")]
    sabath("run", str(SOURCE / "recipes/cosmoflow"), "--seed", str(seed), *settings)
    return last_values(json.loads(sabath("show", "@last", "--json")))


def check(what, is_true):
    print("ok  " if is_true else "FAIL", what, flush=True)
    if not is_true:
        failed.append(what)


def shown(values):
    names = ("omega_m", "sigma_8", "n_spec", "h_0")
    return f"MAE {values['mae']:.4f}, ridge {values['mae_ridge']:.4f}, r " + " ".join(f"{values[f'correlation/{name}']:.3f}" for name in names)


def main():
    if "SABATH_HOME" not in os.environ:
        folder = tempfile.TemporaryDirectory()
        os.environ["SABATH_HOME"] = folder.name
    by_seed = {seed: run(seed) for seed in (1, 2, 3)}
    for seed, values in by_seed.items():
        check(f"seed {seed}: {shown(values)}; {misses(values) or 'accepted'}", not misses(values))
    spread = max(values["mae"] for values in by_seed.values()) - min(values["mae"] for values in by_seed.values())
    check(f"MAE of three seeds within the margin of .02: {spread:.4f}", spread <= 0.02)
    check("other seeds give other bits", len({values["mae"] for values in by_seed.values()}) == 3)

    small = {"universes": 400, "held_out": 100, "epochs": 2}
    run(1, **small)
    run(1, threads=2, **small)
    text = sabath("compare", "@last~1", "@last", expect=4)
    print(text)
    check("one and two threads: named as a difference of the parameters", "threads" in text)

    for universe_seed in (2, 3):
        values = run(1, universe_seed=universe_seed)
        check(f"universes {universe_seed}: {shown(values)}; {misses(values) or 'accepted'}", not misses(values))

    # Predictions are then nearly constant. What varies is noise that follows one feature of the cubes, so that r may have any value and sign.
    values = run(1, labels="shuffled")
    score = values["mae_over_mean"]
    check(f"shuffled labels: {shown(values)}; the MAE is {score:.3f} of that of the mean, at least .98", score >= 0.98)

    values = run(1, model="mlperf", optimizer="sgd", learning_rate=0.001, grid=32, universes=64, held_out=16, epochs=1)
    check(f"the network of MLPerf trains on cubes of 32 cells: MAE {values['mae']:.3f}", 0 < values["mae"] < 1)
    sys.exit(f"failed: {len(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
