"""What is seen of the files that a run opens, by how long they are open, and what seeing it costs.

opens_bench.py SABATH        as root both methods are measured, else sampling alone
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

NOBODY = 65534
DURATIONS_S = (0.001, 0.010, 1.0)
FILES = {0.001: 200, 0.010: 200, 1.0: 20}
RATES = (0, 10, 100, 1000)
RATE_S = 10
OPENS = 20_000

HOLD = """
import os, sys, time
folder, prefix, hold, count = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
for i in range(count):
    file = open(f"{folder}/{prefix}-{i}")
    end = time.perf_counter() + hold
    while time.perf_counter() < end:
        time.sleep(max(0, end - time.perf_counter()))
    file.close()
    time.sleep(0.02)
"""
RATE = """
import sys, time
folder, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
begin = time.perf_counter()
done = 0
while time.perf_counter() - begin < seconds:
    for _ in range(int((time.perf_counter() - begin) * rate) - done):
        open(f"{folder}/rate-{done % 1000}").close()
        done += 1
    time.sleep(0.01)
"""
LOOP = """
import os, sys, time
folder, count = sys.argv[1], int(sys.argv[2])
begin = time.process_time()
for i in range(count):
    os.close(os.open(f"{folder}/rate-{i % 1000}", os.O_RDONLY))
print((time.process_time() - begin) / count * 1e6)
"""


class Bench:
    def __init__(self, sabath, folder, as_nobody):
        self.sabath = sabath
        self.folder = folder
        self.data = folder / "data"
        self.as_nobody = as_nobody
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8",
                            "SABATH_HOME": str(folder / "home")}
        (folder / "home").mkdir()
        self.data.mkdir()

    def run(self, name, argv):
        """The record of a run of one stage, and what it printed."""
        recipe = self.folder / name
        recipe.mkdir()
        (recipe / "recipe.json").write_text(json.dumps(
            {"schema": 1, "name": name, "environment": {"layers": []},
             "stages": [{"name": "go", "run": argv}]}))
        become = []
        if self.as_nobody:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(self.folder)], check=True)
            become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        subprocess.run([*become, self.sabath, "--quiet", "run", str(recipe)], check=True, env=self.environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run = max((self.folder / "home" / "runs").glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
        out = run / "attempts" / "1" / "go" / "stdout.log"
        return json.loads((run / "record.json").read_text()), out.read_text()

    def files(self, prefix, count):
        for i in range(count):
            (self.data / f"{prefix}-{i}").write_text(f"{i}\n")
        time.sleep(0.05)

    def seen(self, record, prefix):
        opened = next(facet["items"] for facet in record["facets"] if facet["name"] == "opened")
        notes = [text for item, text in opened.items() if item.startswith("note ")]
        return opened["method"], sum(path.startswith(f"{self.data}/{prefix}-") for path in opened), notes

    def hit_rates(self):
        for hold in DURATIONS_S:
            prefix = f"open-{hold * 1e3:g}ms"
            self.files(prefix, FILES[hold])
            record, _ = self.run(prefix.replace(".", "-"), ["python3", "-c", HOLD.replace("{", "{{").replace("}", "}}"),
                                        str(self.data), prefix, str(hold), str(FILES[hold])])
            method, seen, notes = self.seen(record, prefix)
            print(f"  {method}, open for {hold * 1e3:g} ms: {seen} of {FILES[hold]} seen {notes or ''}")
        self.files("cat", 200)
        record, _ = self.run("short", ["sh", "-c", f"for i in $(seq 0 199); do cat {self.data}/cat-$i; sleep 0.01; done"])
        method, seen, notes = self.seen(record, "cat")
        print(f"  {method}, by 200 processes 'cat FILE': {seen} seen {notes or ''}")

    def costs(self):
        self.files("rate", 1000)
        before = None
        for rate in RATES:
            record, _ = self.run(f"rate-{rate}", ["python3", "-c", RATE.replace("{", "{{").replace("}", "}}"),
                                                  str(self.data), str(rate), str(RATE_S)])
            share = record["usage"]["sampler_cpu_s"] / record["wall_s"]
            before = share if before is None else before
            print(f"  {rate} opens a second: {100 * (share - before):.3f} % of a core more than without any")
        text = LOOP.replace("{", "{{").replace("}", "}}")
        alone = [float(subprocess.run(["python3", "-c", LOOP, str(self.data), str(OPENS)], check=True, text=True,
                                      capture_output=True, env=self.environment).stdout) for _ in range(5)]
        watched = [float(self.run(f"loop-{i}", ["python3", "-c", text, str(self.data), str(OPENS)])[1])
                   for i in range(5)]
        print(f"  an open and a close: {statistics.median(alone):.2f} us alone, "
              f"{statistics.median(watched):.2f} us in a run (CPU time, medians of 5)")


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    for as_nobody in (False, True) if os.geteuid() == 0 else (False,):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            folder.chmod(0o755)
            bench = Bench(sabath, folder, as_nobody)
            print("opened files" + (", as nobody" if as_nobody else ""))
            bench.hit_rates()
            bench.costs()


if __name__ == "__main__":
    main()
