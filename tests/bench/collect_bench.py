"""Collecting a million metric points, against MLflow's log_batch into SQLite. See README.md.

collect_bench.py SABATH [N]
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import references

POINTS = 1_000_000
MANY_POINTS = 10_000_000
REFERENCE_POINTS = 50_000
BAR_POINTS_PER_SECOND = 1e6
BAR_RATIO = 50

REFERENCE = """
import sys, time
from mlflow.entities import Metric
from mlflow.tracking import MlflowClient
client = MlflowClient(tracking_uri="sqlite:///" + sys.argv[1])
run = client.create_run(client.create_experiment("bench")).info.run_id
points = [Metric("loss", 1.0 / (i + 1), i, i) for i in range(int(sys.argv[2]))]
begin = time.perf_counter()
for at in range(0, len(points), 1000):
    client.log_batch(run, metrics=points[at : at + 1000])
print(time.perf_counter() - begin)
"""


def one_a_line(number):
    return json.dumps({"step": number, "loss": 1.0 / (number + 1)}) + "\n"


def ten_a_line(number):
    values = {f"train/metric{i}": (number + 0.1) / (i + 1) for i in range(10)}
    return json.dumps({"step": number, "time": 1.7e9 + number, **values}) + "\n"


def write_lines(path, line, points_per_line, points):
    with path.open("w") as file:
        file.writelines(line(number) for number in range(points // points_per_line))


def measured(argv, environment):
    """Wall seconds and peak memory in MiB."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(argv)}: ended with {os.waitstatus_to_exitcode(status)}\n{errors.decode()}")
    return seconds, usage.ru_maxrss / 1024


def make_run(sabath, environment, folder, source):
    """A finished run whose only stage reports what `source` has."""
    recipe = folder / "recipe"
    recipe.mkdir(exist_ok=True)
    stage = {"name": "one", "run": {"shell": f"cp '{source}' $SABATH_METRICS"}}
    (recipe / "recipe.json").write_text(json.dumps({"schema": 1, "name": "bench", "stages": [stage]}))
    subprocess.run(
        [sabath, "run", str(recipe)], env=environment, check=True, stdout=subprocess.DEVNULL
    )


def collecting(sabath, environment, folder, repetitions):
    """Seconds from the lines to series.h5 and the catalog, all of both commands."""
    rates = []
    for title, line, per_line in (("1 a line", one_a_line, 1), ("10 a line", ten_a_line, 10)):
        source = folder / "lines.jsonl"
        write_lines(source, line, per_line, POINTS)
        make_run(sabath, environment, folder, source)
        seconds, peaks = [], []
        for _ in range(repetitions + 1):
            collect, peak = measured([sabath, "collect", "@last"], environment)
            listing, _ = measured([sabath, "list", "runs"], environment)
            seconds.append(collect + listing)
            peaks.append(peak)
        seconds = seconds[1:]  # the first one warms up
        rate = POINTS / statistics.median(seconds)
        rates.append(rate)
        print(f"\ncollect: {POINTS} points, {title}")
        print(f"  sabath collect + list       {statistics.median(seconds) * 1e3:8.1f} ms  "
              f"({min(seconds) * 1e3:.1f} to {max(seconds) * 1e3:.1f}, n = {repetitions}), "
              f"{max(peaks):.0f} MiB at most")
        word = "within" if rate >= BAR_POINTS_PER_SECOND else "BEYOND"
        print(f"  {rate / 1e6:.2f} million points a second: {word} the bar of 1 million")
    return min(rates)


def many(sabath, environment, folder):
    source = folder / "lines.jsonl"
    write_lines(source, one_a_line, 1, MANY_POINTS)
    make_run(sabath, environment, folder, source)
    seconds, peak = measured([sabath, "collect", "@last"], environment)
    print(f"\ncollect: {MANY_POINTS} points once\n  {seconds:.1f} s, {peak:.0f} MiB at most")


def reference_python(folder):
    """A Python that has MLflow."""
    return os.environ.get("MLFLOW_PYTHON") or str(references.tools(folder) / "python")


def against_mlflow(folder, rate):
    python = reference_python(folder)
    answer = subprocess.run(
        [python, "-c", REFERENCE, str(folder / "mlflow.db"), str(REFERENCE_POINTS)],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    reference = REFERENCE_POINTS / float(answer.stdout)
    ratio = rate / reference
    word = "within" if ratio >= BAR_RATIO else "BEYOND"
    print(f"\ncollect: MLflow's log_batch into SQLite, {REFERENCE_POINTS} points, 1000 a call")
    print(f"  {reference:.0f} points a second; sabath has {ratio:.0f} times as many: "
          f"{word} the bar of {BAR_RATIO}")


def main():
    sabath = shutil.which(sys.argv[1]) or str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="sabath-collect-") as name:
        folder = pathlib.Path(name)
        environment = dict(os.environ, SABATH_HOME=str(folder / "home"))
        rate = collecting(sabath, environment, folder, repetitions)
        many(sabath, environment, folder)
        against_mlflow(folder, rate)


main()
