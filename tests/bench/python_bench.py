"""The rows of the Python package: its import, points as an array, runs as a frame, and logging of one value.

python_bench.py SABATH [N] [RUNS]: with 0 RUNS no frame is made. Run it with a Python that has NumPy, h5py, pandas and mlflow; rows without
their library are left out.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import catalog_bench

BAR_IMPORT = 3
BAR_ARRAY = 1.2
BAR_FRAME = 20
BAR_LOG = 3
POINTS = 1_000_000
LINES = 20_000
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "src/python"

# Prints milliseconds of `ours` and of `reference` in turn, after a round of each that is not counted.
IN_TURN = """
import sys, time
def in_turn(times, ours, reference):
    for number in range(times + 1):
        for act in (ours, reference):
            begin = time.perf_counter()
            act()
            seconds = time.perf_counter() - begin
            if number:
                print(seconds * 1e3, flush=True)
"""

ARRAY = IN_TURN + """
import h5py, pysabath
run = pysabath.read_run(sys.argv[1])
path = run.folder / "series.h5"
def ours():
    return pysabath.read_run(run.id).metrics["loss"].series["value"]
def reference():
    with h5py.File(path, "r") as file:
        group = file["one/loss"]
        return [group[name][()] for name in ("step", "epoch", "rank", "time_s", "value")]
assert len(ours()) == len(reference()[-1]) == int(sys.argv[3])
in_turn(int(sys.argv[2]), ours, reference)
"""

VALUES = ARRAY.replace('.series["value"]', ".values").replace(
    '[group[name][()] for name in ("step", "epoch", "rank", "time_s", "value")]', '[group["value"][()]]')

FRAME = IN_TURN + """
import mlflow, pysabath
mlflow.set_tracking_uri(sys.argv[1])
ids = [mlflow.search_experiments()[0].experiment_id]
wanted = int(sys.argv[3])
def ours():
    frame = pysabath.runs("recipe=supercell").to_frame()
    assert len(frame) == wanted, len(frame)
def reference():
    frame = mlflow.search_runs(ids, max_results=wanted)
    assert len(frame) == wanted, len(frame)
in_turn(int(sys.argv[2]), ours, reference)
"""

LOG = IN_TURN + """
import os, pysabath
lines = int(sys.argv[3])
os.environ["SABATH_METRICS"] = sys.argv[1] + "/ours.jsonl"
file = os.open(sys.argv[1] + "/bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
def ours():
    for step in range(lines):
        pysabath.log({"loss": 0.1234567890123}, step=step)
def reference():
    line = b'{"step": 12345, "loss": 0.1234567890123}\\n'
    for _ in range(lines):
        os.write(file, line)
in_turn(int(sys.argv[2]), ours, reference)
"""

LOG_MLFLOW = """
import os, sys, time
os.chdir(sys.argv[1])
import mlflow
with mlflow.start_run():
    mlflow.log_metric("loss", 0.5, step=0)
    begin = time.perf_counter()
    for step in range(200):
        mlflow.log_metric("loss", 0.5, step=step + 1)
    print((time.perf_counter() - begin) / 200 * 1e6)
"""


def has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def measure(title, script, environment, arguments, bar, faster=False):
    """Medians of both, and their ratio against the bar. With `faster` the ratio is how many times faster ours is."""
    done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{title}: {done.stderr}")
    times = [float(line) for line in done.stdout.split()]
    ours, reference = times[::2], times[1::2]
    a, b = statistics.median(ours), statistics.median(reference)
    print(f"\n{title}\n  pysabath                    {bench.spread(ours)}\n  reference                   {bench.spread(reference)}")
    if faster:
        print(f"  {b / a:.1f} times faster: {'within' if b / a >= bar else 'BEYOND'} the bar of {bar}")
    else:
        print("  ratio: " + bench.against(bar, a / b, "x"))
    return a, b


def imports(environment, repetitions):
    ours = [sys.executable, "-c", "import pysabath"]
    reference = [sys.executable, "-c", "import json, sqlite3"]
    bare = [sys.executable, "-c", "pass"]
    times = bench.alternate(ours, reference, environment, repetitions)
    start = statistics.median(bench.alternate(bare, bare, environment, repetitions)[0])
    a, b = bench.medians(times)
    bench.tell("import, with the start of Python", ours, reference, times, f"Python alone {start:.1f} ms")
    print("  without it: " + bench.against(BAR_IMPORT, (a - start) / (b - start), "x"))


def a_million_points(sabath, environment, folder, repetitions):
    recipe = folder / "points"
    recipe.mkdir()
    script = f"for step in range({POINTS}): print('{{\"step\": %d, \"loss\": %r}}' % (step, step / 3))"
    (recipe / "points.py").write_text(script)
    stage = {"name": "one", "run": ["sh", "-c", "python3 {recipe}/points.py >>$SABATH_METRICS"]}
    (recipe / "recipe.json").write_text(json.dumps({"schema": 1, "name": "points", "stages": [stage]}))
    subprocess.run([sabath, "--quiet", "run", str(recipe), "--seed", "1"], env=environment, check=True, stdout=subprocess.DEVNULL)
    run = next(path.name for path in (folder / "runs").iterdir() if path.name.startswith("points-"))
    measure("a million points as arrays, against h5py's read of the same columns", ARRAY, environment, (run, repetitions, POINTS), BAR_ARRAY)
    measure("the same, against h5py's read of the values alone", VALUES, environment, (run, repetitions, POINTS), BAR_ARRAY)


def frame(sabath, environment, folder, repetitions, wanted):
    original = catalog_bench.make_home(sabath, environment, folder, wanted)
    subprocess.run([sabath, "--quiet", "catalog", "reindex"], env=environment, check=True, stdout=subprocess.DEVNULL)
    catalog_bench.fill_mlflow(pathlib.Path(sys.executable).parent, folder, original, wanted)
    arguments = (f"sqlite:///{folder}/mlflow.db", repetitions, wanted)
    measure(f"{wanted} runs as a frame, against mlflow.search_runs", FRAME, environment, arguments, BAR_FRAME, faster=True)


def logging(environment, folder, repetitions):
    for title, place in (("this file system", folder), ("memory", pathlib.Path("/dev/shm"))):
        with tempfile.TemporaryDirectory(dir=place) as scratch:
            ours, bare = measure(f"{LINES} values logged one by one, against os.write ({title})", LOG, environment,
                                 (scratch, repetitions, LINES), BAR_LOG)
            print(f"  a value: {ours / LINES * 1e3:.2f} us, os.write: {bare / LINES * 1e3:.2f} us")
    if has("mlflow"):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            done = subprocess.run([sys.executable, "-c", LOG_MLFLOW, scratch], env=environment, capture_output=True, text=True, check=True)
            print(f"  mlflow.log_metric to its default store: {float(done.stdout.split()[-1]):.0f} us")


def main():
    if len(sys.argv) not in (2, 3, 4):
        sys.exit("usage: python_bench.py SABATH [N] [RUNS]")
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{bench.processor()}, Python {sys.version.split()[0]}, {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}, load {load}")
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as name:
        folder = pathlib.Path(name)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")  # both are compiled once
        environment.update(SABATH_HOME=name, SABATH_CONFIG=str(folder / "config"), SABATH_PROGRAM=sabath, PYTHONPATH=str(PACKAGE))
        imports(environment, repetitions)
        logging(environment, folder, repetitions)
        if has("h5py"):
            a_million_points(sabath, environment, folder, repetitions)
        if wanted > 0 and has("pandas") and has("mlflow"):
            frame(sabath, environment, folder, max(3, repetitions // 5), wanted)


if __name__ == "__main__":
    main()
