"""The rows of pairs: `sabath compare` of two runs with a million points a metric.

compare_bench.py SABATH [N] [POINTS]
"""

import json
import os
import pathlib
import sys
import tempfile

from timed import timed

POINTS = 1_000_000
BAR_S = 1.0

WRITER = """
import os, random, sys
points, seed = int(sys.argv[1]), int(sys.argv[2])
loss, speed = random.Random(1), random.Random(seed)
with open(os.environ["SABATH_METRICS"], "w") as lines:
    for step in range(points):
        value = loss.random() * (1 + 1e-12 * (seed > 1 and step > points // 2))
        lines.write('{"step": %d, "loss": %r, "step_time": %r}\\n' % (step, value, 1 + 0.1 * speed.random()))
"""


def write_recipe(folder, points):
    (folder / "code").mkdir()
    (folder / "code" / "writer.py").write_text(WRITER)
    recipe = {
        "schema": 1, "name": "points", "seed": {"environment": ["BENCH_SEED"]},
        "stages": [{"name": "train", "run": [sys.executable, "{code}/writer.py", str(points), "{seed}"]}],
        "metrics": {"loss": {"better": "lower"},
                    "step_time": {"better": "lower", "unit": "s", "kind": "performance", "warmup": 10}},
    }
    (folder / "recipe.json").write_text(json.dumps(recipe))


def main():
    sabath = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    points = int(sys.argv[3]) if len(sys.argv) > 3 else POINTS
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "points"
        folder.mkdir()
        write_recipe(folder, points)
        environment = {**os.environ, "SABATH_HOME": name + "/home"}
        for seed in ("1", "2"):
            timed([sabath, "-q", "run", str(folder), "--seed", seed], environment, {0})
        taken = sorted(timed([sabath, "compare", "@last~1", "@last"], environment, {0, 1, 3}) for _ in range(times))
        middle = taken[len(taken) // 2]
        word = "within" if middle <= BAR_S else "beyond"
        print(f"compare of two runs with {points} points of a metric of results and one of performance: {middle:.3f} s "
              f"({taken[0]:.3f} to {taken[-1]:.3f}), {word} {BAR_S:g} s")


if __name__ == "__main__":
    main()
