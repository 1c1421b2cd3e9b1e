"""The rows of recipes: seconds and score of each, and what sabath adds to the same code started by hand.

science_bench.py SABATH [PAIRS [pairs]]     PAIRS: at most this many pairs for each recipe of the second table (default 40);
                                             with the word "pairs" only that table is made

It needs the package index of the user's pip, and half an hour. Both sides of a pair are pinned to one core, in turn. A recipe ends once the
95 % interval of the ratio is narrower than 2 %.
"""

import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import bench
from timed import timed

# Recipe: its score, then that of a method without learning, or the difference to it.
SCORES = {
    "supercell": ("forecast_error", "forecast_persistence", "cost_ratio"),
    "kessler": ("skill", "margin"),
    "cosmoflow": ("mae", "mae_ridge"),
    "mnist": ("test_accuracy", "accuracy_nearest_neighbour"),
    "imdb": ("test_accuracy", "accuracy_bag_of_words"),
    "imbalanced": ("auc_pr", "auc_pr_logistic"),
}
BY_HAND = ("mnist", "cosmoflow")
BAR_RATIO = 1.02
NARROW = 0.02
# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
QUANTILES = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042}


def newest(sabath, environment):
    """The record of the newest run, and its folder as "directory"."""
    shown = subprocess.run([sabath, "show", "@last", "--json"], env=environment, capture_output=True, text=True, check=True)
    record = json.loads(shown.stdout)
    record["directory"] = str(pathlib.Path(environment["SABATH_HOME"]) / "runs" / record["run_id"])
    return record


def value(record, name):
    for metric in record["metrics"]:
        if metric["name"] == name:
            return metric["last"]
    return None


def table(sabath, environment):
    print("\nrecipes, seed 1, environment there")
    for name, scores in SCORES.items():
        subprocess.run([sabath, "env", "build", name], env=environment, capture_output=True, check=True)
        wall = timed([sabath, "run", name, "--seed", "1"], environment)
        record = newest(sabath, environment)
        memory = max(stage.get("max_rss_bytes", 0) for stage in record["stages"]) / 2**20
        shown = ", ".join(f"{score} {value(record, score):.4g}" for score in scores if value(record, score) is not None)
        print(f"  {name:<12}{wall:7.1f} s  {memory:6.0f} MiB  {shown}", flush=True)


def by_hand(record, folder, environment):
    """The command and the variables of the only stage that a second run executes."""
    [stage] = [one for one in record["stages"] if one["state"] == "ok"]
    outputs = folder / "by-hand"
    outputs.mkdir(exist_ok=True)
    own = f"{record['directory']}/outputs/{stage['name']}"
    argv = [str(outputs) if part == own else part for part in stage["argv"]]
    [layer] = record["environment"]["layers"]
    variables = {**environment, **layer.get("variables", {}), "SABATH_METRICS": str(outputs / "metrics.jsonl"), "SABATH_SEED": "1"}
    return argv, variables


def interval(ratios):
    """95 % interval of the geometric mean."""
    logs = [math.log(ratio) for ratio in ratios]
    freedom = len(logs) - 1
    quantile = QUANTILES[max(known for known in QUANTILES if known <= freedom)]
    half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.mean(logs)
    return math.exp(middle - half), math.exp(middle + half)


def pairs(sabath, name, environment, folder, most):
    pinned = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    ours = [*pinned, sabath, "run", name, "--seed", "1"]
    for _ in range(2):  # the second run reuses what is cached, as each of the pairs does
        timed(ours, environment)
    argv, variables = by_hand(newest(sabath, environment), folder, environment)
    times = ([], [])
    low, high = 0.0, math.inf
    while len(times[0]) < most:
        times[0].append(timed(ours, environment))
        (folder / "by-hand" / "metrics.jsonl").unlink(missing_ok=True)
        times[1].append(timed([*pinned, *argv], variables))
        if len(times[0]) < 3:
            continue
        low, high = interval([a / b for a, b in zip(*times)])
        if high - low < NARROW:
            break
    shutil.rmtree(folder / "by-hand")
    print(f"  {name:<12}{statistics.median(times[0]):7.2f} s  by hand {statistics.median(times[1]):7.2f} s  ratio {low:.4f} to {high:.4f}, "
          f"{len(times[0])} pairs; upper end " + bench.against(BAR_RATIO, high, "x"), flush=True)


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit("usage: science_bench.py SABATH [PAIRS [pairs]]")
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as name:
        folder = pathlib.Path(name)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment["SABATH_HOME"] = str(folder / "home")
        environment["SABATH_CONFIG"] = str(folder / "config")
        try:
            if len(sys.argv) < 4:
                table(sabath, environment)
            print("\nthe same code, started by sabath and by hand, on one core")
            for recipe in BY_HAND:
                pairs(sabath, recipe, environment, folder, most)
        finally:
            # Trees in the cache are read-only.
            subprocess.run(["chmod", "-R", "u+w", name], check=False)


if __name__ == "__main__":
    main()
