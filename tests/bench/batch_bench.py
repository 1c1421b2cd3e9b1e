"""The rows of batches: 1,000 runs handed to a real Slurm, watched and brought in.

batch_bench.py SABATH [RUNS]

Ends with 1 where a bar is missed. Wants root and Debian's Slurm: starts itself again within a cluster of its own (tests/support/slurm/cluster.py).
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE.parent / "support" / "slurm" / "cluster.py"
RUNS = 1000
BAR_SUBMIT_S = 2
BAR_STATUS_MS = 100
BAR_HARVEST_S = 1
BAR_OVERHEAD_MS = 100
BAR_QUESTIONS = 12
BAR_CANCEL_S = 2  # as for handing them in
INSIDE = "SABATH_BENCH_CLUSTER"


MISSED = []


def row(what, measured, bar, unit="", digits=0):
    print(f"| {what} | {measured:.{digits}f}{unit} | {bar}{unit} |", flush=True)
    if measured > bar:
        MISSED.append(what)


class User:
    """Somebody with a home, a site and tools of Slurm whose calls are counted."""

    def __init__(self, sabath, folder):
        self.sabath = sabath
        self.folder = pathlib.Path(folder)
        self.environment = dict(os.environ, SABATH_HOME=str(self.folder / "home"),
                                SABATH_CONFIG=str(self.folder / "config"), HOME=str(self.folder / "user"))
        (self.folder / "config/sites").mkdir(parents=True)
        (self.folder / "user").mkdir()
        self.calls = self.folder / "calls"
        self.count_calls()
        recipe = {"schema": 1, "name": "nothing", "environment": {"layers": []},
                  "stages": [{"name": "go", "run": ["true"]}]}
        (self.folder / "nothing").mkdir()
        (self.folder / "nothing/recipe.json").write_text(json.dumps(recipe))
        # Held by its begin, so that all of them wait while they are watched.
        self.site("waits", options=["--begin=now+1hour"])
        self.site("runs")

    def site(self, name, **more):
        document = {"schema": 1, "scheduler": "slurm", **more}
        (self.folder / f"config/sites/{name}.json").write_text(json.dumps(document))

    def count_calls(self):
        before = self.folder / "before"
        before.mkdir()
        for tool in ("sbatch", "squeue", "sacct", "scontrol", "scancel"):
            path = before / tool
            path.write_text(f'#!/bin/sh\necho {tool} >>{self.calls}\nPATH=${{PATH#*:}} exec {tool} "$@"\n')
            path.chmod(0o755)
        self.environment["PATH"] = f"{before}:{self.environment['PATH']}"

    def counted(self, *tools):
        lines = self.calls.read_text().split() if self.calls.exists() else []
        return sum(lines.count(tool) for tool in tools)

    def run(self, *arguments, check=True):
        begin = time.perf_counter()
        done = subprocess.run([self.sabath, *arguments], env=self.environment, capture_output=True, text=True)
        wall = time.perf_counter() - begin
        if check and done.returncode:
            sys.exit(f"batch_bench: sabath {' '.join(arguments)}: {done.returncode}\n{done.stderr}")
        return wall, done.stdout

    def study(self):
        return max((self.folder / "home/studies").iterdir(), key=lambda path: path.stat().st_mtime).name


def submit(user, count):
    before = user.counted("sbatch")
    wall, _ = user.run("run", str(user.folder / "nothing"), "--on", "waits", "--seeds", f"1..{count}", "--detach", "--quiet")
    row(f"submit {count} runs ({user.counted('sbatch') - before} call of sbatch)", wall, BAR_SUBMIT_S, " s", 2)


def status(user, count):
    user.run("status")
    walls = [user.run("status")[0] * 1e3 for _ in range(20)]
    row(f"`status` of {count} waiting runs, 20 times", statistics.median(walls), BAR_STATUS_MS, " ms")


def questions(user, count):
    """Four who wait for the same minute."""
    before = user.counted("squeue", "sacct", "scontrol")
    threads = [threading.Thread(target=user.run, args=("wait", "--timeout", "60s", "--quiet"), kwargs={"check": False})
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = user.counted("squeue", "sacct", "scontrol") - before
    row(f"questions in the first minute of four `wait` for {count} runs", asked, BAR_QUESTIONS)


def execute(user, count):
    """What the nodes would do, by all cores of this machine."""
    batch = user.folder / "home/studies" / user.study() / "jobs/1"
    walls = []
    tasks = iter(range(1, count + 1))
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                task = next(tasks, None)
            if task is None:
                return
            walls.append(user.run("exec", "--batch", str(batch), "--task", str(task), "--quiet")[0])

    threads = [threading.Thread(target=work) for _ in range(os.cpu_count())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return walls


def overhead(user):
    """One after the other, alone."""
    user.run("run", str(user.folder / "nothing"), "--on", "waits", "--seeds", "1..30", "--detach", "--quiet")
    batch = user.folder / "home/studies" / user.study() / "jobs/1"
    walls, bare = [], []
    for task in range(1, 31):
        walls.append(user.run("exec", "--batch", str(batch), "--task", str(task), "--quiet")[0])
        begin = time.perf_counter()
        subprocess.run(["true"], check=True)
        bare.append(time.perf_counter() - begin)
    more = (statistics.median(walls) - statistics.median(bare)) * 1e3
    row("`exec` in the job over the bare command, 30 times", more, BAR_OVERHEAD_MS, " ms")


def harvest(user, count):
    wall, text = user.run("list", "runs", "--json")
    row(f"bring {count} finished runs into the catalog (and list them)", wall, BAR_HARVEST_S, " s", 2)
    states = {run["state"] for run in json.loads(text)["runs"]}
    if states != {"ok"}:
        sys.exit(f"batch_bench: the runs are {states}")


def cancel(user, count):
    user.run("run", str(user.folder / "nothing"), "--on", "waits", "--seeds", f"1..{count}", "--detach", "--quiet")
    wall, _ = user.run("cancel", user.study())
    row(f"`cancel` of {count} waiting runs", wall, BAR_CANCEL_S, " s", 2)


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else RUNS
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execv(CLUSTER, [str(CLUSTER), "run", "--", sys.executable, __file__, sabath, str(count)])
    with tempfile.TemporaryDirectory() as folder:
        user = User(sabath, folder)
        print("| what | measured | bar |\n|---|---|---|")
        submit(user, count)
        status(user, count)
        questions(user, count)
        execute(user, count)
        harvest(user, count)
        overhead(user)
        cancel(user, count)
    if MISSED:
        sys.exit("batch_bench: missed: " + "; ".join(MISSED))


if __name__ == "__main__":
    main()
