"""The rows of reports: 200 runs of 10,000 points a metric as one page, and as what programs read.

report_bench.py SABATH [N] [RUNS]
"""

import json
import os
import pathlib
import sys
import tempfile

from timed import timed

RUNS = 200
POINTS = 10_000
BAR_S = 2.0
BAR_BYTES = 2_000_000

PROGRAM = r"""
BEGIN {
  srand(s)
  for (i = 1; i <= points; i++) {
    printf "{\"step\": %d, \"epoch\": %d, \"loss\": %.17g, \"accuracy\": %.17g}\n", i, i / 1000,
      1 / (1 + i / 500) + 0.05 * rand(), 0.9 - 1 / (1 + i / 100) + 0.01 * rand()
    if (i % 1000 == 0)
      printf "{\"step\": %d, \"epoch\": %d, \"validation_loss\": %.17g, \"epoch_time\": %.17g}\n", i, i / 1000,
        1 / (1 + i / 400) + 0.02 * rand(), 3 + rand()
  }
}
"""

RECIPE = {
    "schema": 1,
    "name": "bench",
    "environment": {"layers": []},
    "seed": {"environment": ["S"]},
    "metrics": {
        "loss": {"unit": "1", "better": "lower"},
        "validation_loss": {"unit": "1", "better": "lower"},
        "accuracy": {"unit": "1", "better": "higher"},
        "epoch_time": {"unit": "s", "better": "lower", "kind": "performance"},
    },
    "stages": [{"name": "train", "run": {"shell": "awk -v s={seed} -v points=%d -f {recipe}/points.awk >> $SABATH_METRICS" % POINTS}}],
}


def main():
    sabath = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recipe = folder / "bench"
        recipe.mkdir()
        (recipe / "recipe.json").write_text(json.dumps(RECIPE), encoding="utf-8")
        (recipe / "points.awk").write_text(PROGRAM, encoding="utf-8")
        environment = {**os.environ, "SABATH_HOME": name + "/home"}
        made = timed([sabath, "-q", "run", str(recipe), "--seeds", f"1..{runs}"], environment)
        print(f"{runs} runs of {POINTS} points each: {made:.1f} s")
        for file in ("report.html", "report.md", "report.json", "report.csv"):
            out = folder / file
            taken = sorted(timed([sabath, "report", "recipe=bench", "-o", str(out)], environment) for _ in range(times))
            middle = taken[len(taken) // 2]
            size = out.stat().st_size
            line = f"{file} of {runs} runs: {middle:.3f} s ({taken[0]:.3f} to {taken[-1]:.3f}), {size / 1e6:.2f} MB"
            if file == "report.html":
                line += f", {'within' if middle <= BAR_S else 'beyond'} {BAR_S:g} s"
                line += f" and {'within' if size <= BAR_BYTES else 'beyond'} {BAR_BYTES / 1e6:g} MB"
            print(line)


if __name__ == "__main__":
    main()
