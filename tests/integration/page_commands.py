#!/usr/bin/env python3
"""page_commands.py SABATH SOURCE [--files PAGE] PAGE...: the commands of pages print what the pages show.

Lines of a page that begin with `$ ` in a code block run in order, each page in an empty home and folder. Files that stand in the
page (a code block with a title) are written when the page comes to them; with --files those of another page are there before.
What follows a command must be its answer. `...` stands for any text. Ids, digests, dates, durations, sizes, users and the layout
may differ, and numbers of nine digits or more after the sixth. A later command that uses an id or a digest gets the real one.
A command that fails must show its error or be followed by `echo $?`.
"""

import getpass
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ANY = re.compile(r"(?<!\.)\.\.\.(?!\.)")
CHANGES = [
    (re.compile(r"\b[a-z][a-z0-9-]*-\d{8}-\d{6}-[a-z]{6,8}\b"), "<id>"),
    (re.compile(r"sha256:[0-9a-f]{8,64}|sha256/[0-9a-f]{2}/[0-9a-f]{62}"), "<digest>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(T[\d:.]+Z)?"), "<date>"),
    (re.compile(r"(?<![\w.])\d+(\.\d+)? (ms|s|min|h)\b"), "<time>"),
    (re.compile(r"(?<![\w.])\d+(\.\d+)? ([KMGT]i)?B\b"), "<size>"),
    (re.compile(r"(?<![\w.])\d(\.\d+)?e-1[3-9]\b"), "<rounding>"),
    (re.compile(rf"\bby (ada|{getpass.getuser()})\b"), "by <user>"),
]
NAMED = re.compile(r"sha256:[0-9a-f]{64}|\b[a-z][a-z0-9-]*-\d{8}-\d{6}-[a-z]{6,8}\b")
KEPT = re.compile(r"TMPDIR|SSL_CERT_FILE|(PIP|SLURM)_.*|\w+_(proxy|PROXY)")
QUIET = re.compile(r"^ *(note|warning): .* was not quiet: .*\n?", re.M)


def plain(text, home):
    """Text without what changes from call to call."""
    text = QUIET.sub("", text.replace(str(home), "~"))
    for pattern, name in CHANGES:
        text = pattern.sub(name, text)
    text = re.sub(r"-?\d+\.\d+(e[+-]\d+)?", lambda m: f"{float(m[0]):.6g}" if len(m[0]) > 10 else m[0], text)
    return " ".join(text.split())


def agrees(shown, answer):
    """True where the answer is the shown text, with anything for each `...`."""
    return re.fullmatch(".*?".join(re.escape(part.strip()) + r"\s*" for part in ANY.split(shown)), answer) is not None


def blocks(page):
    """The code blocks of a page: (first line, title or "", lines)."""
    title, block, start, fence = "", None, 0, ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        opened = re.match(r"(```+)(.*)", line)
        if block is None and opened:
            found = re.search(r'title="([^"]+)"', opened[2])
            title, block, start, fence = found[1] if found else "", [], number + 1, opened[1]
        elif block is not None and line == fence:
            yield start, title, block
            block = None
        elif block is not None:
            block.append(line)


def commands(start, lines):
    """(line, command, shown answer) for each `$ ` of a block; lines that end in a backslash continue."""
    found = []
    for number, line in enumerate(lines, start):
        if line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found and not found[-1][2] and found[-1][1].endswith("\\"):
            found[-1][1] += "\n" + line
        elif found:
            found[-1][2].append(line)
    return found


class Reader:
    """Somebody who types what a page shows, in an empty home."""

    def __init__(self, sabath, home):
        self.home, self.folder, self.status, self.names = home, home, 0, {}
        # Variables of the session would be recorded and printed.
        kept = {k: v for k, v in os.environ.items() if KEPT.fullmatch(k)}
        self.environment = {**kept, "HOME": str(home), "PATH": f"{sabath.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8"}

    def write(self, title, lines):
        path = self.home / title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def learn(self, shown, answer):
        """What has which id and digest here, where the page shows all of the answer's."""
        there, here = NAMED.findall(shown), NAMED.findall(answer)
        if len(there) == len(here):
            self.names.update(zip(there, here))

    def type(self, command):
        """Returns what is printed: the answer, and an error from its first line on."""
        command = NAMED.sub(lambda m: self.names.get(m[0], m[0]), command)
        place = self.home / ".folder"
        script = f"(exit {self.status})\n{command}\nstatus=$?; pwd >{place}; exit $status"
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        self.status, self.folder = done.returncode, pathlib.Path(place.read_text().strip())
        error = re.search(r"^sabath: .*", done.stderr, re.M | re.S)
        return done.stdout, error[0] if error else "", done.stderr


def read_page(sabath, page, files):
    """Returns (commands, failures)."""
    count, failures = 0, []
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(sabath, pathlib.Path(folder).resolve())
        for _, title, lines in blocks(files) if files else ():
            if title:
                reader.write(title, lines)
        for start, title, lines in blocks(page):
            if title:
                reader.write(title, lines)
                continue
            for number, command, shown in commands(start, lines):
                answer, error, everything = reader.type(command)
                count += 1
                place = f"{page}:{number}: $ {command}"
                text = plain("\n".join(shown), reader.home)
                wanted = "sabath: " in text
                answer += error if wanted else ""
                reader.learn("\n".join(shown), answer)
                if not agrees(text, plain(answer, reader.home)):
                    failures.append(f"{place}\nprints\n{answer}{everything}")
                follows = lines[lines.index(shown[-1]) + 1 :] if shown else lines
                if reader.status != 0 and not wanted and "$ echo $?" not in follows:
                    failures.append(f"{place}\nends with {reader.status}, which the page does not show\n{everything}")
        subprocess.run(["chmod", "-R", "u+w", folder], check=False)
    return count, failures


def main():
    sabath, source, words = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3:]
    files = None
    if words[0] == "--files":
        files, words = source / words[1], words[2:]
    failed = 0
    for word in words:
        begun = time.monotonic()
        count, failures = read_page(sabath, source / word, files)
        print(f"{word}: {count} commands, {len(failures)} failed, {time.monotonic() - begun:.1f} s")
        failed += len(failures) + (count == 0)
        for failure in failures:
            print("FAIL", failure)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
