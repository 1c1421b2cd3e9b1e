"""PERFORMANCE of pairs of identical runs on this machine: as it is, and beside busy loops of the bench's own.

speed_pairs.py SABATH [PAIRS] [STEPS]
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from timed import timed

WRITER = """
import os, sys, time
with open(os.environ["SABATH_METRICS"], "w") as lines:
    for step in range(int(sys.argv[1])):
        begin = time.perf_counter()
        total = 0
        for number in range(40_000):
            total += number * number
        lines.write('{"step": %d, "step_time": %r}\\n' % (step, time.perf_counter() - begin))
"""


def write_recipe(folder, steps):
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "writer.py").write_text(WRITER)
    recipe = {
        "schema": 1, "name": "pairs",
        "stages": [{"name": "work", "run": [sys.executable, "{code}/writer.py", str(steps)]}],
        "metrics": {"step_time": {"better": "lower", "unit": "s", "kind": "performance", "warmup": 10}},
    }
    (folder / "recipe.json").write_text(json.dumps(recipe))


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def by_interval(row):
    """What the interval says before the state of the machine counts."""
    if "ratio_low" not in row:
        return "too few"
    low, high, margin = row["ratio_low"], row["ratio_high"], row["margin"]
    if low > 1 + margin or 1 / high > 1 + margin:
        return "FAIL"
    return "PASS" if high < 1 + margin and 1 / low < 1 + margin else "INCONCLUSIVE"


def counted(words):
    return ", ".join(f"{words.count(word)} {word}" for word in ("PASS", "FAIL", "INCONCLUSIVE", "too few") if word in words)


def judge_pairs(sabath, folder, environment, pairs):
    loads, verdicts, intervals, ratios, busy = [], [], [], [], 0
    for _ in range(pairs):
        for _ in range(2):
            loads.append(os.getloadavg()[0])
            timed([sabath, "-q", "run", str(folder)], environment)
        answer = subprocess.run([sabath, "compare", "@last~1", "@last", "--json"], env=environment,
                                capture_output=True, text=True, check=False)
        comparison = json.loads(answer.stdout)
        row = next(row for row in comparison["performance"] if row["name"] == "work/step_time")
        verdicts.append(comparison["performance_verdict"])
        intervals.append(by_interval(row))
        ratios.append(row["ratio"])
        busy += "was not quiet" in comparison["performance_reason"]
    print(f"  load before a run {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores; "
          f"ratio of medians {min(ratios):.3f} to {max(ratios):.3f}")
    print(f"  {pairs} pairs: {counted(verdicts)}; {busy} on a machine that was not quiet")
    print(f"  by the intervals alone: {counted(intervals)}")


def main():
    sabath = os.path.abspath(sys.argv[1])
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "pairs"
        write_recipe(folder, steps)
        environment = {**os.environ, "SABATH_HOME": name + "/home"}
        print("as the machine is:")
        judge_pairs(sabath, folder, environment, pairs)
        print(f"beside {os.cpu_count()} busy loops:")
        with busy_loops(os.cpu_count()):
            judge_pairs(sabath, folder, environment, pairs)


if __name__ == "__main__":
    main()
