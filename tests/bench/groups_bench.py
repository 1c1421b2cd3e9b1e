"""The rows of groups: `sabath compare --by host` and `sabath rank` over 10,000 runs, and how they come in.

groups_bench.py SABATH [N] [RUNS]
"""

import json
import os
import pathlib
import random
import sys
import tempfile

from timed import timed

RUNS = 10_000
HOSTS = 100
BAR_S = 1.0


def write_table(path, runs):
    """Runs on hosts, a few of which are slow and a little off."""
    rng = random.Random(1)
    with open(path, "w", encoding="utf-8") as table:
        table.write("host,gpu,seed,accuracy,loss\n")
        for run in range(runs):
            host = rng.randrange(HOSTS)
            accuracy = 0.9 + 0.001 * (host % 7) + rng.gauss(0, 0.002)
            table.write(f"node{host:03d},gpu{host % 4},{run},{accuracy!r},{rng.gauss(0.3, 0.01)!r}\n")


def write_sweep(path, runs):
    """Each of a hundred settings with the same seeds; the best ten are close."""
    rng = random.Random(2)
    seeds = runs // HOSTS
    of_seed = [rng.gauss(0, 0.02) for _ in range(seeds)]
    with open(path, "w", encoding="utf-8") as table:
        table.write("setting,seed,loss\n")
        for setting in range(HOSTS):
            for seed in range(seeds):
                loss = 0.3 + 0.0005 * setting + of_seed[seed] + rng.gauss(0, 0.005)
                table.write(f"{setting},{seed},{loss!r}\n")


def show(name, times, words, environment, statuses):
    taken = sorted(timed(words, environment, statuses) for _ in range(times))
    middle = taken[len(taken) // 2]
    word = "within" if middle <= BAR_S else "beyond"
    print(f"{name}: {middle:.3f} s ({taken[0]:.3f} to {taken[-1]:.3f}), {word} {BAR_S:g} s")


def main():
    sabath = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else RUNS
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table.csv"
        write_table(table, runs)
        environment = {**os.environ, "SABATH_HOME": folder + "/home"}
        brought = timed([sabath, "-q", "import", str(table), "--recipe", "bench", "--facets", "host,gpu,seed",
                         "--metrics", "accuracy,loss"], environment, {0})
        print(f"import of {runs} rows: {brought:.2f} s")
        for by in ("host", "host,gpu", "host,seed"):
            show(f"compare --by {by} of {runs} runs", times, [sabath, "compare", "recipe=bench", "--by", by],
                 environment, {0, 1, 3})
        write_sweep(table, runs)
        timed([sabath, "-q", "import", str(table), "--recipe", "sweep", "--facets", "setting,seed", "--metrics", "loss"],
              environment, {0})
        rules = pathlib.Path(folder) / "ranking.json"
        rules.write_text(json.dumps({"schema": 1, "metric": "loss", "better": "lower", "by": ["setting"],
                                     "margin": 0.001, "seeds": {"same": True}}))
        show(f"rank of {runs} runs in {HOSTS} groups", times,
             [sabath, "rank", "recipe=sweep", "--rules", str(rules)], environment, {0})


if __name__ == "__main__":
    main()
