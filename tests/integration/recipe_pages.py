#!/usr/bin/env python3
"""recipe_pages.py SABATH SOURCE: each `sabath run` in the README of a recipe is accepted, as a dry run in an empty home."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SABATH, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def commands(page):
    """The lines of code blocks that begin with `sabath run`, joined where they go on, without comments."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        found = re.match(r"    (?:\$ )?sabath (run .*)", line)
        if found:
            yield shlex.split(found[1], comments=True)


def main():
    failed = checked = 0
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SABATH_HOME": home}
        for page in sorted(SOURCE.glob("recipes/*/README.md")):
            for words in commands(page):
                words = [word.replace("FOLDER", home) for word in words]
                done = subprocess.run([SABATH, *words, "--dry-run"], env=environment, capture_output=True, text=True)
                checked += 1
                if done.returncode != 0:
                    failed += 1
                    print(f"FAIL {page.parent.name}: sabath {shlex.join(words)}: status {done.returncode}\n{done.stderr}")
    print(f"{checked} commands, {failed} failed")
    sys.exit(1 if failed or checked < 10 else 0)


if __name__ == "__main__":
    main()
