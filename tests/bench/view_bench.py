#!/usr/bin/env python3
"""view_bench.py SABATH [N] [RUNS]: the live view beside MLflow's server, h5py and a training code. Prints ratios; asserts nothing."""

import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import catalog_bench  # noqa: E402
import references  # noqa: E402

H5PY = "import h5py, sys, time; b = time.perf_counter(); f = h5py.File(sys.argv[1]); x = [f['train/loss'][k][:] for k in ('step', 'value')]; print(time.perf_counter() - b)"


class View:
    def __init__(self, sabath, environment, home):
        (home / "runtime").mkdir(mode=0o700, exist_ok=True)
        own = {**environment, "XDG_RUNTIME_DIR": str(home / "runtime")}
        self.process = subprocess.Popen([sabath, "serve", "--tcp", "--no-browser", "--json"], env=own, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        text = ""
        while not text.endswith("}\n"):
            text += self.process.stdout.readline()
        answer = json.loads(text)
        self.url, self.token = answer["url"], answer["token"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def get(self, path):
        request = urllib.request.Request(self.url + "api/" + path, headers={"Authorization": "Bearer " + self.token})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return max(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def timed(call, n):
    times = []
    for i in range(n):
        begin = time.perf_counter()
        call(i)
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    return statistics.median(times), times[int(0.95 * (len(times) - 1))]


def mlflow_pages(tools, home, original, wanted, n):
    """The same page from MLflow's own server over HTTP."""
    uri = catalog_bench.fill_mlflow(tools, home, original, wanted)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([str(tools / "mlflow"), "server", "--backend-store-uri", uri, "--port", str(port), "--workers", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        def ask(_):
            body = json.dumps({"experiment_ids": ["0"], "max_results": 100}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{port}/api/2.0/mlflow/runs/search", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=120) as answer:
                assert len(json.load(answer)["runs"]) == 100
        for _ in range(600):
            try:
                ask(0)
                break
            except OSError:
                time.sleep(0.2)
        return timed(ask, n)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def pages(sabath, environment, home, n, wanted):
    original = catalog_bench.make_home(sabath, environment, home, wanted)
    subprocess.run([sabath, "--quiet", "catalog", "reindex"], env=environment, check=True, stdout=subprocess.DEVNULL)
    with View(sabath, environment, home) as view:
        # Each question is another one: none is answered from the server's memory.
        ours, late = timed(lambda i: view.get(f"runs?limit=100&from={i}"), n)
        chosen = timed(lambda i: view.get(f"runs?limit=100&from={i}&select=forecast_error%3C0.5&sort=forecast_error"), n)
        print(f"\na page of 100 of {wanted} runs: median {ours:.1f} ms, p95 {late:.1f} ms (bar: p95 100 ms)")
        print(f"  a selection by a metric, sorted: median {chosen[0]:.1f} ms, p95 {chosen[1]:.1f} ms")
        print(f"  memory of the server: {view.memory_mib():.0f} MiB (bar: 64)")
    theirs, _ = mlflow_pages(references.tools(home), home, original, wanted, max(3, n // 10))
    print(f"  MLflow's server: median {theirs:.0f} ms, {theirs / ours:.0f}x (bar: 20x)")


def home_operations(trace, home):
    """What strace saw of files beneath the home, on the catalog and elsewhere. /proc and the system's own files are on no shared file system."""
    lines = [line for line in trace.splitlines() if f'"{home}' in line or f"<{home}" in line]
    lines = [line for line in lines if "resumed" not in line]
    catalog = sum("catalog.db" in line for line in lines)
    return catalog, len(lines) - catalog


def many_going_on(sabath, environment, home, tabs, seconds=30):
    """1,000 runs that are in progress: cost of the server while pages are open."""
    runs = home / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    # One run really goes on. The others say that its process executes them, too.
    real = subprocess.Popen([sabath, "--quiet", "run", str(make_recipe(home)), "--seed", "1"], env=environment, stdout=subprocess.DEVNULL)
    original = None
    while original is None or '"running"' not in (original / "status.json").read_text():
        time.sleep(0.1)
        original = next((path for path in runs.iterdir() if (path / "status.json").exists()), None)
    plan, status = (original / "plan.json").read_text(), json.loads((original / "status.json").read_text())
    for number in range(1000):
        name = f"small-20261101-{number:06}-abcdefgh"
        (runs / name / "attempts/1/one").mkdir(parents=True)
        (runs / name / "plan.json").write_text(plan.replace(original.name, name))
        (runs / name / "status.json").write_text(json.dumps(status))
    subprocess.run([sabath, "--quiet", "catalog", "reindex"], env=environment, check=True, stdout=subprocess.DEVNULL)
    for count in tabs:
        with View(sabath, environment, home) as view:
            # The first answers take in what happened before.
            for _ in range(5):
                view.get("now")
                time.sleep(2)
            trace = home / "trace"
            tracer = subprocess.Popen(["strace", "-f", "-qq", "-y", "-s", "300", "-e", "trace=%file,getdents64", "-o", str(trace), "-p", str(view.process.pid)],
                                      stderr=subprocess.DEVNULL)
            time.sleep(1)
            before, begin = view.cpu_s(), time.monotonic()
            since = [0] * count
            while time.monotonic() - begin < seconds:
                for tab in range(count):
                    answer = view.get(f"now?since={since[tab]}")
                    since[tab] = answer["version"]
                time.sleep(answer["next_ms"] / 1000)
            cpu = (view.cpu_s() - before) / (time.monotonic() - begin)
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
            catalog, others = home_operations(trace.read_text(errors="replace"), home)
            print(f"  1,000 runs in progress, {count} tab(s): {100 * cpu:.1f} % of a core (bar: 2 %), {(catalog + others) / seconds:.1f} metadata operations "
                  f"a second in the home (bar: 20), {catalog / seconds:.1f} of them on the catalog, {view.memory_mib():.0f} MiB")
    real.terminate()
    real.wait()


def make_recipe(home):
    folder = home / "small"
    folder.mkdir(exist_ok=True)
    (folder / "recipe.json").write_text('{"schema": 1, "name": "small", "stages": [{"name": "one", "run": ["sleep", "600"]}]}')
    return folder


def million_points(sabath, environment, home, tools):
    folder = home / "points"
    (folder / "code").mkdir(parents=True)
    (folder / "code/points.py").write_text(
        "import os\nwith open(os.environ['SABATH_METRICS'], 'a') as f:\n    for i in range(1, 1000001):\n        f.write('{\"step\": %d, \"loss\": %r}\\n' % (i, 1.0 / i))\n")
    (folder / "recipe.json").write_text(json.dumps({"schema": 1, "name": "points", "metrics": {"loss": {"from": "jsonl", "unit": "1", "better": "lower"}},
                                                    "stages": [{"name": "train", "run": ["python3", "{code}/points.py"]}]}))
    done = subprocess.run([sabath, "--json", "run", str(folder)], env=environment, check=True, capture_output=True, text=True)
    run = json.loads(done.stdout)["runs"][0]["id"]
    series = home / "runs" / run / "series.h5"
    theirs = statistics.median(float(subprocess.run([str(tools / "python"), "-c", H5PY, str(series)], check=True, capture_output=True, text=True).stdout) for _ in range(5))
    firsts, laters = [], []
    for _ in range(5):
        with View(sabath, environment, home) as view:
            begin = time.perf_counter()
            answer = view.get(f"run/{run}/courses")
            firsts.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            view.get(f"run/{run}/courses?after={answer['version']}")
            laters.append(time.perf_counter() - begin)
    print(f"  a million points: first answer {statistics.median(firsts):.2f} s, then {1000 * statistics.median(laters):.1f} ms; "
          f"h5py reads the file in {theirs:.2f} s (bar: 0.5 s)")


PICTURES = """
import http.server, json, statistics, sys, threading
from playwright.sync_api import sync_playwright
class Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Type", "text/html"); self.end_headers()
        self.wfile.write(b"<!doctype html><title>x</title><p>x</p>")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
threading.Thread(target=server.serve_forever, daemon=True).start()
places = {"empty": f"http://127.0.0.1:{server.server_port}/", "view": sys.argv[1]}
PAINT = "performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0] || 0"
times = {name: [] for name in places}
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    for i in range(int(sys.argv[2]) + 2):
        for name, address in places.items():
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            paint = 0
            while not paint:
                page.wait_for_timeout(20)
                paint = page.evaluate(PAINT)
            if i > 1:
                times[name].append(paint)
            context.close()
print(json.dumps({name: statistics.median(all) for name, all in times.items()}))
"""


def first_picture(sabath, environment, home, n):
    """From the begin of navigation to the first text or image, in a new context each time, in turn with an empty page."""
    python = os.environ.get("PLAYWRIGHT_PYTHON")
    if python is None:
        subprocess.run([sys.executable, "-m", "venv", str(home / "browser")], check=True)
        python = str(home / "browser/bin/python")
        subprocess.run([python, "-m", "pip", "install", "-q", "playwright==1.49.1"], check=True)
    with View(sabath, environment, home) as view:
        done = subprocess.run([python, "-c", PICTURES, f"{view.url}#t={view.token}", str(n)], check=True, capture_output=True, text=True)
    times = json.loads(done.stdout)
    print(f"  first picture of a page in Chromium: {times['view']:.0f} ms, of an empty page {times['empty']:.0f} ms, "
          f"{times['view'] - times['empty']:.0f} ms more (bar: 200)")


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    wanted = int(sys.argv[2]) if len(sys.argv) > 3 else 100_000
    for measure in (lambda e, h: pages(sabath, e, h, max(n, 20), wanted), lambda e, h: many_going_on(sabath, e, h, (1, 10)),
                    lambda e, h: million_points(sabath, e, h, references.tools(h)), lambda e, h: first_picture(sabath, e, h, 20)):
        with tempfile.TemporaryDirectory(prefix="sabath-bench-") as folder:
            home = pathlib.Path(folder)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_") and k != "SSH_CONNECTION"}
            environment |= {"SABATH_HOME": folder, "SABATH_CONFIG": str(home / "config")}
            measure(environment, home)


if __name__ == "__main__":
    main()
