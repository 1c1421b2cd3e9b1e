"""The rows of run.sh that fetch: sabath against other tools and against what the machine can do."""

import hashlib
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

MB = 1_000_000


def build_server(folder):
    """The tests' server with token buckets, compiled on the spot."""
    source = pathlib.Path(__file__).parent.parent / "support" / "programs" / "file_server.c"
    program = folder / "file_server"
    subprocess.run(["cc", "-O2", "-std=c11", "-o", str(program), str(source)], check=True)
    return str(program)


class Server:
    """Serves `folder`; per connection and in all: bytes a second, 0: no limit."""

    def __init__(self, program, folder, per_connection=0, in_all=0):
        argv = [program, str(folder), str(per_connection), str(in_all)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def run(argv, environment=None):
    """Seconds of wall time and the greatest memory in MiB."""
    begin = time.perf_counter()
    with subprocess.Popen(
        argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        told = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(argv)}: status {process.returncode}\n{told}")
    return seconds, usage.ru_maxrss / 1024


class Home:
    """A new, empty home each time, so that nothing is there already."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.number = 0

    def fresh(self, keep=False):
        if not keep:
            shutil.rmtree(self.folder / f"home{self.number}", ignore_errors=True)
        self.number += 1
        home = self.folder / f"home{self.number}"
        home.mkdir()
        return dict(self.environment, SABATH_HOME=str(home), SABATH_CONFIG=str(home / "config"))


def fetch(sabath, homes, name, files, environment=None):
    """Describes files (path, size, digest, sources) as an asset and fetches it."""
    environment = environment or homes.fresh()
    described = [
        {"path": path, "size": size, "digest": {"sha256": digest}, "sources": sources}
        for path, size, digest, sources in files
    ]
    document = {
        "schema": 1,
        "kind": "dataset",
        "name": name,
        "version": "1",
        "title": name,
        "license": "CC0-1.0",
        "access": {"policy": "open"},
        "files": described,
    }
    catalog = homes.folder / "catalog"
    (catalog / "datasets").mkdir(parents=True, exist_ok=True)
    (catalog / "datasets" / f"{name}.json").write_text(json.dumps(document))
    return run([sabath, "--quiet", "--catalog", str(catalog), "fetch", name], environment)


def make_file(path, size):
    with path.open("wb") as file:
        block = os.urandom(min(size, 16 * MB))
        left = size
        while left > 0:
            file.write(block[:left])
            left -= len(block)


def digest_of(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tell(title, sides, verdict, memory):
    print(f"\n{title}")
    for name, times in sides:
        least, most = min(times), max(times)
        middle = statistics.median(times)
        print(f"  {name:<34}{middle * 1e3:9.0f} ms  ({least * 1e3:.0f} to {most * 1e3:.0f}, n = {len(times)})")
    print(f"  {verdict}; peak memory {memory:.0f} MiB")


def within(value, bar, more_is_better=False):
    good = value >= bar if more_is_better else value <= bar
    return f"{value:.2f}: {'within' if good else 'BEYOND'} the bar of {bar:g}"


def alternate(ours, reference, rounds):
    mine, theirs, memory = [], [], 0.0
    for _ in range(rounds):
        seconds, mib = ours()
        mine.append(seconds)
        memory = max(memory, mib)
        if reference:
            theirs.append(reference()[0])
    return mine, theirs, memory


def segments(sabath, folder, homes, program, rounds):
    size = 400 * MB
    make_file(folder / "big", size)
    digest = digest_of(folder / "big")
    with Server(program, folder, per_connection=20 * MB) as server:
        def ours():
            return fetch(sabath, homes, "big", [("big", size, digest, [server.url("big")])])

        def aria2c():
            (folder / "out").unlink(missing_ok=True)
            return run(["aria2c", "-q", "-x16", "-s16", "-d", str(folder), "-o", "out", server.url("big")])

        reference = aria2c if shutil.which("aria2c") else None
        mine, theirs, memory = alternate(ours, reference, rounds)
    sides = [("sabath fetch, verified", mine)]
    verdict = "aria2c is not installed"
    if theirs:
        sides.append(("aria2c -x16 -s16", theirs))
        verdict = "ratio of the least: " + within(min(mine) / min(theirs), 1.05)
    tell("400 MB, 20 MB/s a connection", sides, verdict, memory)
    with Server(program, folder, in_all=50 * MB) as one, Server(program, folder, in_all=50 * MB) as two:
        def both():
            sources = [one.url("big"), two.url("big")]
            return fetch(sabath, homes, "big", [("big", size, digest, sources)])

        mine, _, memory = alternate(both, None, rounds)
    share = size / min(mine) / (100 * MB)
    tell("400 MB from two mirrors of 50 MB/s each", [("sabath fetch, verified", mine)],
         "share of the sum: " + within(share, 0.95, True), memory)


def bulk(sabath, folder, homes, program, rounds):
    size = 2 << 30
    make_file(folder / "huge", size)
    digest = digest_of(folder / "huge")
    with Server(program, folder) as server:
        def ours():
            return fetch(sabath, homes, "huge", [("huge", size, digest, [server.url("huge")])])

        def openssl():
            return run(["openssl", "dgst", "-sha256", str(folder / "huge")])

        mine, theirs, memory = alternate(ours, openssl, rounds)
    sides = [("sabath fetch, verified", mine), ("openssl dgst -sha256", theirs)]
    verdict = "ratio of the least: " + within(min(mine) / min(theirs), 1.10)
    tell("2 GiB on loopback", sides, verdict, memory)
    (folder / "huge").unlink()


def many(sabath, folder, homes, program, rounds):
    count = 20_000
    small = folder / "small"
    small.mkdir()
    files = []
    for index in range(count):
        content = os.urandom(1000 + index * 7919 % 15000)
        (small / f"{index}").write_bytes(content)
        files.append((index, len(content), hashlib.sha256(content).hexdigest()))
    # Nothing is removed between rounds: where ext4 has removed many files a moment ago, it makes new
    # ones slowly, and that would be what is measured.
    outs = (folder / f"small-out{number}" for number in itertools.count())
    with Server(program, small) as server:
        def ours():
            wanted = [(str(i), size, digest, [server.url(i)]) for i, size, digest in files]
            return fetch(sabath, homes, "small", wanted, homes.fresh(keep=True))

        def curl():
            out = next(outs)
            out.mkdir()
            config = folder / "curl.config"
            config.write_text("".join(f'url = "{server.url(i)}"\noutput = "{out}/{i}"\n' for i, _, _ in files))
            return run(["curl", "-s", "--parallel", "--parallel-max", "16", "-K", str(config)])

        mine, theirs, memory = alternate(ours, curl, rounds)
    sides = [("sabath fetch, hashed, durable", mine), ("curl --parallel, plain files", theirs)]
    verdict = "ratio of the least: " + within(min(mine) / min(theirs), 1.5)
    tell(f"{count} files of 1 to 16 kB", sides, verdict, memory)


def what_is_there(sabath, folder, homes, program, rounds):
    make_file(folder / "there", MB)
    digest = digest_of(folder / "there")
    environment = homes.fresh()
    with Server(program, folder) as server:
        files = [("there", MB, digest, [server.url("there")])]
        fetch(sabath, homes, "there", files, environment)
        mine, theirs, memory = alternate(
            lambda: fetch(sabath, homes, "there", files, environment),
            lambda: run(["curl", "--version"]),
            10 * rounds,
        )
    sides = [("sabath fetch of what is there", mine), ("curl --version", theirs)]
    ratio = statistics.median(mine) / statistics.median(theirs)
    tell("a file that is there", sides, "ratio of the medians: " + within(ratio, 2), memory)


def measure(sabath, folder, environment, rounds):
    """All rows; `folder` must have room for 5 GB."""
    program = build_server(folder)
    homes = Home(folder, environment)
    for row in (segments, bulk, many, what_is_there):
        row(sabath, folder, homes, program, rounds)
