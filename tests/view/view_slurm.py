#!/usr/bin/env python3
"""view_slurm.py SABATH: the page "Now" of runs that wait at a real Slurm of four nodes says why each waits, and which one is stuck.

Starts itself again within a cluster of its own; wants root and Debian's Slurm. With Playwright it also looks at the page in Chromium.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE.parent / "support" / "slurm" / "cluster.py"
INSIDE = "SABATH_VIEW_CLUSTER"
SKIPPED = 77


def wait_for(what, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.5)
    return what()


def now(server):
    request = urllib.request.Request(server["url"] + "api/now", headers={"Authorization": "Bearer " + server["token"]})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def look_in_browser(server, texts):
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no Playwright: the page itself was not looked at")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server["url"] + "#t=" + server["token"])
        for text in texts:
            page.get_by_text(text).first.wait_for(timeout=60_000)
        browser.close()
    print("ok: the page in Chromium shows them")


def check(sabath, folder):
    environment = dict(os.environ, SABATH_HOME=str(folder / "home"), SABATH_CONFIG=str(folder / "config"), HOME=str(folder),
                       XDG_RUNTIME_DIR=str(folder / "runtime"))
    environment.pop("SSH_CONNECTION", None)
    (folder / "config/sites").mkdir(parents=True)
    (folder / "runtime").mkdir(mode=0o700)
    (folder / "sleeper").mkdir()
    (folder / "sleeper/recipe.json").write_text(json.dumps({"schema": 1, "name": "sleeper", "environment": {"layers": []},
                                                            "stages": [{"name": "go", "run": ["sleep", "300"]}]}))
    for name, options in {"plain": ["--exclusive"], "held": ["--hold"]}.items():
        (folder / f"config/sites/{name}.json").write_text(json.dumps({"schema": 1, "scheduler": "slurm", "options": options}))

    def run(*words):
        subprocess.run([sabath, *words], env=environment, check=True, stdout=subprocess.DEVNULL)

    server_process = subprocess.Popen([sabath, "serve", "--tcp", "--no-browser", "--json"], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True)
    text = ""
    while not text.endswith("}\n"):
        text += server_process.stdout.readline()
    server = json.loads(text)
    try:
        # Four run, one on each node, and two wait for a node.
        run("--quiet", "run", str(folder / "sleeper"), "--on", "plain", "--seeds", "1..6", "--detach")
        run("--quiet", "run", str(folder / "sleeper"), "--on", "held", "--seed", "9", "--detach")

        def all_told():
            page = now(server)
            waiting = [one for one in page["runs"] if one["state"] == "planned" and "waits_for" in one]
            has_all = all(any(word in reason for reason in page["reasons"]) for word in ("Resources", "JobHeld"))
            return page if page["counts"].get("running") == 4 and len(waiting) == 3 and has_all else None
        page = wait_for(all_told)
        if page is None:
            sys.exit(f"not all were told: {json.dumps(now(server), indent=1)}")
        reasons = page["reasons"]
        print("reasons:", json.dumps(reasons))
        stuck = [one for one in page["runs"] if one.get("stuck")]
        if sum(reasons.values()) != 3:
            sys.exit("a run that has begun does not wait")
        if len(stuck) != 1 or "JobHeld" not in stuck[0]["waits_for"]:
            sys.exit(f"stuck are {stuck}")
        status = json.loads(subprocess.run([sabath, "--json", "status"], env=environment, check=True, capture_output=True).stdout)
        if status["counts"] != page["counts"]:
            sys.exit(f"status says {status['counts']}, the page {page['counts']}")
        print("ok: the page's document and status say the same:", json.dumps(status["counts"]))
        look_in_browser(server, list(reasons))
        study = next(one["study"] for one in page["runs"] if one["study"])
        run("--quiet", "cancel", study)
    finally:
        server_process.terminate()
        server_process.wait()


def main():
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    if shutil.which("slurmctld") is None or os.geteuid() != 0:
        print("skipped: no Slurm here, or not root")
        sys.exit(SKIPPED)
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execv(CLUSTER, [str(CLUSTER), "run", "--", sys.executable, __file__, sabath])
    with tempfile.TemporaryDirectory() as folder:
        check(sabath, pathlib.Path(folder))


if __name__ == "__main__":
    main()
