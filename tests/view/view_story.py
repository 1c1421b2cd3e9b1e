#!/usr/bin/env python3
"""view_story.py SABATH [--pictures FOLDER] [--axe]: a study followed in a real browser, from nothing to its verdict.

Exits 77 where there is no Chromium or no package index.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SKIPPED = 77
RECIPE = {
    "schema": 1,
    "name": "slow",
    "parameters": {
        "rate": {"type": "float", "default": 1.0, "min": 0.0},
        "drift": {"type": "int", "default": 0, "affects": "execution"},
    },
    "seed": {"environment": ["SABATH_SEED"]},
    "metrics": {"loss": {"from": "jsonl", "unit": "1", "better": "lower", "margin": 0.1, "tolerance": {"relative": 1e-6}}},
    "stages": [
        {"name": "make", "run": ["python3", "{code}/slow.py", "make"]},
        {"name": "train", "needs": ["make"], "outputs": ["page.html"],
         "run": ["python3", "{code}/slow.py", "train", "{param.rate}", "{param.drift}", "{output}"]},
    ],
}
# A run waits at its steps 50 and 80 until the story gives it a pass, so that no step depends on how quick the machine is.
CODE = r"""
import json, os, pathlib, random, sys, time
PASSES = pathlib.Path("@PASSES@")
def take_pass():
    while True:
        for one in PASSES.iterdir():
            try:
                one.unlink()
                return
            except FileNotFoundError:
                pass
        time.sleep(0.05)
print("first line <script>alert(1)</script> \x1b[2J", flush=True)
if sys.argv[1] == "train":
    rate, drift, out = float(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    seed = int(os.environ.get("SABATH_SEED", "0"))
    noise = random.Random(seed)
    with open(os.environ["SABATH_METRICS"], "a") as metrics:
        for step in range(1, 101):
            loss = rate / step + noise.random() * 0.01 + (0.001 if drift and step >= drift else 0)
            line = {"step": step, "loss": loss, "__proto__": step, "<img src=x onerror=alert(1)>": 2.0}
            if step == 50:
                line["odd"] = float("nan")
            metrics.write(json.dumps(line) + "\n")
            metrics.flush()
            print("step", step, flush=True)
            if step in (50, 80):
                take_pass()
    (out / "page.html").write_text("<script>document.title = 'run'</script>")
"""


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def browser_python(work):
    """A Python that has Playwright, which drives the system's Chromium."""
    try:
        import playwright.sync_api  # noqa: F401
        return sys.executable
    except ImportError:
        pass
    python = work / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    done = subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "playwright==1.49.1"])
    if done.returncode != 0:
        skip("the package index cannot be reached")
    return str(python)


class Home:
    """A home with one recipe, and the program in it."""

    def __init__(self, program, work):
        self.program, self.work = program, work
        self.environment = {**os.environ, "SABATH_HOME": str(work / "home"), "SABATH_CACHE": str(work / "cache"),
                            "SABATH_CONFIG": str(work / "config"), "XDG_RUNTIME_DIR": str(work / "runtime")}
        for name in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(name, None)
        (work / "runtime").mkdir(mode=0o700)
        code = work / "slow/code"
        code.mkdir(parents=True)
        self.passes = work / "passes"
        self.passes.mkdir()
        (code / "slow.py").write_text(CODE.replace("@PASSES@", str(self.passes)))
        (work / "slow/recipe.json").write_text(json.dumps(RECIPE))

    def start(self, *words):
        return subprocess.Popen([self.program, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def call(self, *words, status=0):
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def let_pass(self, times):
        for _ in range(times):
            (self.passes / str(time.monotonic_ns())).touch()

    def json(self, *words, status=0):
        return json.loads(self.call(*words, "--json", status=status))


class Server:
    def __init__(self, home, *words):
        self.process = home.start("serve", "--no-browser", "--json", *words)
        text = ""
        while not text.endswith("}\n"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            text += line
        self.answer = json.loads(text)
        self.url, self.token = self.answer["url"], self.answer["token"]

    def get(self, path):
        request = urllib.request.Request(self.url + "api/" + path, headers={"Authorization": "Bearer " + self.token})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(20)


class Watched:
    """A page of the view, and everything that must not happen on it."""

    def __init__(self, browser, server, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.context.set_default_timeout(90000)
        self.page = self.context.new_page()
        self.problems, self.hosts, self.loads = [], set(), 0
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda one: self.problems.append(one.text) if one.type == "error" and "Failed to load" not in one.text and "ERR_" not in one.text else None)
        self.page.on("dialog", lambda dialog: (self.problems.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))
        self.page.on("load", lambda: setattr(self, "loads", self.loads + 1))
        self.open(server)

    def open(self, server):
        self.page.goto(server.url + "#t=" + server.token)

    def go(self, address):
        self.page.evaluate("to => { location.hash = to; }", address)

    def sees(self, text):
        self.page.locator("#main").get_by_text(text, exact=False).first.wait_for()

    def check(self, server):
        assert not self.problems, self.problems
        assert self.hosts <= {server.url.split("/")[2]}, self.hosts
        assert self.context.cookies() == []
        width = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0, f"scrolls sideways by {width}"


def wait_for(what, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("waited in vain")


def follow_study(home, server, watched):
    watched.sees("Nothing is under way")
    study = home.start("run", str(home.work / "slow"), "--sweep", "rate=1,2", "--seeds", "1..2", "--json")
    page = watched.page
    page.get_by_role("link", name="slow-study").first.wait_for()
    watched.sees("running")
    link = page.get_by_role("link", name="slow-study").first
    identifier = link.inner_text()
    link.click()
    watched.sees("not run")
    watched.sees("SO FAR")
    # States on the page are those of the program.
    home.let_pass(2)
    wait_for(lambda: "1 ok" in page.locator("#main .lead").inner_text())
    assert "1 ok" in home.call("status", identifier)
    home.let_pass(6)
    watched.sees("4 ok")
    study.communicate(timeout=90)
    wait_for(lambda: page.locator(".verdict strong").first.inner_text() not in ("", "SO FAR"))
    assert watched.loads == 1, "the page was loaded again"
    return identifier


def look_at_run(home, server, watched, run):
    watched.go("/run/" + run)
    page = watched.page
    caption = page.locator("figure.chart figcaption").first
    wait_for(lambda: caption.count() and "100 points" in caption.inner_text())
    record = home.json("show", run)
    loss = next(one for one in record["metrics"] if one["name"] == "loss")
    courses = server.get(f"run/{run}/courses")
    course = next(one for one in courses["metrics"] if one["name"] == "loss")
    assert course["last"][1] == loss["last"] and course["first"][1] == loss["first"]
    assert min(bucket[2] for bucket in course["buckets"]) == loss["min"]
    odd = next(one for one in courses["metrics"] if one["name"] == "__proto__")
    assert odd["points"] == 100
    page.locator("#main").get_by_text("<img src=x onerror=alert(1)>", exact=False).first.wait_for()
    page.get_by_role("combobox", name="Log").select_option("train|out")
    wait_for(lambda: "\\x1b[2J" in page.locator("pre.log").inner_text())
    assert "<script>alert(1)</script>" in page.locator("pre.log").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download page.html").click()
    assert pathlib.Path(download.value.path()).read_text().startswith("<script>")
    assert page.title() != "run" and len(watched.context.pages) == 1


def compare_while_running(home, server, watched):
    home.let_pass(2)
    first = home.json("run", str(home.work / "slow"), "--seed", "1")["runs"][0]["id"]
    other = home.start("run", str(home.work / "slow"), "--seed", "1", "--set", "drift=60", "--json")
    second = wait_for(lambda: [one["id"] for one in server.get("now")["runs"] if one["state"] == "running"])[0]
    watched.go(f"/compare?a={first}&b={second}")
    watched.sees("equal to the bit up to step 50")
    home.let_pass(1)
    watched.sees("DIVERGES")
    headline = watched.page.locator(".verdict span").inner_text()
    assert other.poll() is None, "the run was over before its divergence was shown"
    assert "diverges at step 60" in headline, headline
    home.let_pass(1)
    other.communicate(timeout=90)
    wait_for(lambda: watched.page.locator(".verdict strong").inner_text() == "FAIL")
    verdict = home.json("compare", first, second, status=1)
    assert watched.page.locator(".verdict span").inner_text() == verdict["reason"]
    assert "step 60" in verdict["reason"], verdict["reason"]


def break_things(home, server, watched):
    page = watched.page
    watched.go("/runs")
    page.get_by_role("link", name="slow-2").first.wait_for()
    before = page.get_by_role("link", name="slow-2").count()
    (home.work / "home/catalog.db").unlink()
    page.reload()
    wait_for(lambda: page.get_by_role("link", name="slow-2").count() == before)
    page.get_by_role("searchbox").fill("recipe=slow,loss<")
    page.get_by_text("selection 'recipe=slow,loss<'", exact=False).wait_for()
    # An answer that is lost takes nothing from the page.
    page.route("**/api/runs?*", lambda route: route.abort(), times=1)
    page.get_by_role("searchbox").fill("recipe=slow,seed=2")
    wait_for(lambda: page.locator("tr[data-row]").count() == 2)
    assert "recipe%3Dslow" in page.url
    server.end(signal.SIGKILL)
    page.get_by_text("the server is gone; asking again").wait_for()
    again = Server(home)
    watched.hosts.clear()
    watched.open(again)
    page.get_by_text("up to date").wait_for()
    return again


def refuse(home, server, browser):
    def status(path="api/now", **fields):
        request = urllib.request.Request(server.url + path, headers={key.replace("_", "-"): value for key, value in fields.items()})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    good = "Bearer " + server.token
    assert status(Authorization=good) == 200
    assert status() == 401 and status(Authorization="Bearer " + "0" * 64) == 401
    assert status("api/now?t=" + server.token, Authorization=good) == 400
    assert status(Authorization=good, Origin="null") == 403
    assert status(Authorization=good, Sec_Fetch_Site="same-site") == 403
    assert status(Authorization=good, Host="evil.test") == 403
    # A page on another port of the same host reads nothing.
    page = browser.new_context().new_page()
    page.route("http://127.0.0.1:9/", lambda route: route.fulfill(body="<p>neighbour</p>", content_type="text/html"))
    page.goto("http://127.0.0.1:9/")
    answer = page.evaluate("""async ([url, token]) => {
      try {
        const answer = await fetch(url + "api/now", { headers: { Authorization: "Bearer " + token } });
        return answer.status;
      } catch (error) { return "refused"; }
    }""", [server.url, server.token])
    assert answer == "refused", answer
    # The token is in no file beneath the home, in no argument and in no log.
    for file in (home.work / "home").rglob("*"):
        assert not file.is_file() or server.token.encode() not in file.read_bytes(), file
    assert server.token not in pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_text()
    if os.geteuid() == 0 and shutil.which("setpriv"):
        script = f"import urllib.request; urllib.request.urlopen('{server.url}').read()"
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script], capture_output=True, text=True)
        assert done.returncode != 0 and ("RemoteDisconnected" in done.stderr or "reset" in done.stderr), done.stderr


def drive(program, pictures, axe):
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="sabath-view-") as folder, sync_playwright() as play:
        home = Home(program, pathlib.Path(folder))
        server = Server(home)
        assert home.json("serve", "--no-browser")["url"] == server.url, "a second server was started"
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        try:
            watched = Watched(browser, server, viewport={"width": 1280, "height": 900})
            study = follow_study(home, server, watched)
            run = home.json("list", "runs", "study=" + study)["runs"][0]["id"]
            look_at_run(home, server, watched, run)
            compare_while_running(home, server, watched)
            watched.check(server)
            refuse(home, server, browser)
            if pictures or axe:
                import view_extras
                view_extras.look(browser, server, home, study, run, pictures, axe)
            server = break_things(home, server, watched)
        finally:
            browser.close()
            server.end(signal.SIGKILL)
        print("ok: a study was followed from nothing to its verdict")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("sabath")
    options.add_argument("--pictures")
    options.add_argument("--axe")
    given = options.parse_args()
    if not shutil.which("chromium"):
        skip("there is no Chromium")
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        with tempfile.TemporaryDirectory(prefix="sabath-browser-") as work:
            sys.exit(subprocess.run([browser_python(pathlib.Path(work)), *sys.argv]).returncode)
    drive(given.sabath, given.pictures, given.axe)


if __name__ == "__main__":
    main()
