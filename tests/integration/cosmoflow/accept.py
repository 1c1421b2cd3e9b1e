#!/usr/bin/env python3
"""accept.py: reads `sabath show --json` of a run with the default parameters and checks its scores on the held-out universes."""

import json
import sys

# Correlations, and the error against the guess of the mean and against the ridge regression.
LEAST = {"correlation/omega_m": 0.80, "correlation/sigma_8": 0.93, "correlation/n_spec": 0.60}
MOST = {"mae_over_mean": 0.62, "mae_over_ridge": 1.0}


def last_values(run):
    """The last value of each metric by its name without the stage."""
    return {metric["name"]: metric["last"] for metric in run["metrics"] if metric["stream"] == "train"}


def misses(values):
    return [f"{name} {values[name]:.4f} < {least}" for name, least in LEAST.items() if values[name] < least] + [
        f"{name} {values[name]:.4f} > {most}" for name, most in MOST.items() if values[name] > most
    ]


if __name__ == "__main__":
    values = last_values(json.load(sys.stdin))
    for name in (*LEAST, *MOST, "mae", "mae_ridge", "mae_mean"):
        print(f"{name} {values[name]:.4f}")
    failed = misses(values)
    sys.exit("\n".join(failed) if failed else 0)
