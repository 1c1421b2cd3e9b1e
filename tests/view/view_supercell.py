#!/usr/bin/env python3
"""view_supercell.py SABATH ADDRESS: three runs of supercell with seed 1 in the view at an address, in Chromium, while they happen.

With one and two threads and sums in order the runs stay equal to the bit. With fast sums the page says at which step the runs diverge
before the slower one has ended, and it is the step that `compare` says. Needs Playwright. The variables of the home are those of the caller.
"""

import json
import re
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

SMALL = ["--set", "cells_x=48", "--set", "cells_z=36", "--set", "snapshots=101", "--set", "epochs=10", "--seed", "1"]


def start(sabath, *words):
    known = runs(sabath)
    process = subprocess.Popen([sabath, "--quiet", "run", "supercell", *SMALL, *words], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        fresh = [run for run in runs(sabath) if run not in known]
        if fresh:
            return process, fresh[0]
        time.sleep(0.2)
    sys.exit("a run ended before it was listed")


def runs(sabath):
    done = subprocess.run([sabath, "--json", "list", "runs", "--all"], check=True, capture_output=True, text=True)
    return [run["id"] for run in json.loads(done.stdout)["runs"]]


def compared(sabath, a, b):
    done = subprocess.run([sabath, "--json", "compare", a, b], capture_output=True, text=True)
    return json.loads(done.stdout)


def sees(page, pattern, seconds, where=".verdict"):
    """The text of the verdict, or of another place, as soon as it matches."""
    end = time.monotonic() + seconds
    text = ""
    while time.monotonic() < end:
        place = page.locator(where).first
        text = place.inner_text() if place.count() else ""
        if re.search(pattern, text):
            return text
        time.sleep(0.1)
    sys.exit(f"no '{pattern}' within {seconds} s: '{text}'")


def main():
    sabath, address = sys.argv[1:]
    subprocess.run([sabath, "--quiet", "env", "build", "supercell"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.get_by_role("heading", name="Now").wait_for(timeout=60_000)
        base = page.url.split("#")[0]
        one, ordered = start(sabath, "--set", "threads=1")
        other, same = start(sabath, "--set", "threads=2")
        third, fast = start(sabath, "--set", "threads=2", "--set", "reduction=fast")
        page.goto(f"{base}#/compare?a={ordered}&b={fast}")
        said = sees(page, "equal to the bit up to", 600, "tr:has-text('train/loss')")
        in_time = one.poll() is None or third.poll() is None
        page.goto(f"{base}#/compare?a={ordered}&b={same}")
        so_far = sees(page, "equal to the bit up to|PASS", 300)
        for process in (one, other, third):
            if process.wait() != 0:
                sys.exit("a run failed")
        over = compared(sabath, ordered, fast)
        sees(page, "PASS", 60)
        page.goto(f"{base}#/compare?a={ordered}&b={fast}")
        sees(page, "FAIL|PASS|INCONCLUSIVE", 60)
        browser.close()
    step = re.search(r"equal to the bit up to step (\d+)", said)
    final = re.search(r"bitwise until step (\d+)", over["reason"])
    print("while they ran:", said.replace("\n", " "))
    print("ordered, one and two threads:", so_far.replace("\n", " "))
    print("compare afterwards:", over["result"], over["reason"])
    if not in_time:
        sys.exit("both runs had ended before the page said it")
    if step is None or final is None or int(step.group(1)) + 1 != int(final.group(1)):
        sys.exit(f"the page said that they are equal up to {step and step.group(1)}, compare says until {final and final.group(1)}")


if __name__ == "__main__":
    main()
