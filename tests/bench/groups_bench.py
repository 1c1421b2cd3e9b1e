"""The rows of groups: `sabath compare --by host` over 10,000 runs, and how they come in.

groups_bench.py SABATH [N] [RUNS]
"""

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
            taken = sorted(timed([sabath, "compare", "recipe=bench", "--by", by], environment, {0, 1, 3})
                           for _ in range(times))
            middle = taken[len(taken) // 2]
            word = "within" if middle <= BAR_S else "beyond"
            print(f"compare --by {by} of {runs} runs: {middle:.3f} s ({taken[0]:.3f} to {taken[-1]:.3f}), "
                  f"{word} {BAR_S:g} s")


if __name__ == "__main__":
    main()
