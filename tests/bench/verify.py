"""Verifying 8 GiB in 8 files, against openssl on one file after the other. See README.md."""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

FILES = 8
FILE_BYTES = 1 << 30
BLOCK_BYTES = 1 << 24
OBJECTS = 20_000


def make_object(cache, content):
    """Puts blocks of bytes where the cache keeps them, as somebody else's copy would."""
    digest = hashlib.sha256()
    partial = cache / "partial.tmp"
    with partial.open("wb") as file:
        for block in content:
            digest.update(block)
            file.write(block)
    name = digest.hexdigest()
    place = cache / "objects" / "sha256" / name[:2] / name[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    partial.chmod(0o444)
    partial.rename(place)
    return place


def timed(argv, environment):
    """Wall seconds and peak memory in MiB."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(argv)}: ended with {os.waitstatus_to_exitcode(status)}\n{output}")
    return seconds, usage.ru_maxrss / 1024, output


def one_after_the_other(places):
    return sum(timed(["openssl", "dgst", "-sha256", str(place)], os.environ)[0] for place in places)


def big_files(sabath, environment, cache, repetitions):
    seed = os.urandom(BLOCK_BYTES - 1)
    places = []
    for number in range(FILES):
        block = seed + bytes([number])
        places.append(make_object(cache, (block for _ in range(FILE_BYTES // BLOCK_BYTES))))
    cores = len(os.sched_getaffinity(0))
    ours, theirs, peaks = [], [], []
    for _ in range(repetitions):
        seconds, peak, output = timed([sabath, "--quiet", "verify", "--full"], environment)
        if "8.0 GiB hashed, 0 damaged" not in output:
            sys.exit(f"verify did not read it all:\n{output}")
        ours.append(seconds)
        peaks.append(peak)
        theirs.append(one_after_the_other(places))
    ratio = min(theirs) / min(ours)
    word = "within" if ratio >= 0.9 * cores else "BEYOND"
    print(f"\nverify --full of {FILES} files of 1 GiB, {repetitions} repetitions, the least of each")
    print(f"  sabath verify --full        {min(ours):8.2f} s, peak {max(peaks):.0f} MiB")
    print(f"  openssl dgst -sha256, each  {min(theirs):8.2f} s")
    print(f"  {ratio:.2f} x faster: {word} the bar of 0.9 x {cores} cores = {0.9 * cores:.1f} x")
    seconds, _, output = timed([sabath, "--quiet", "verify"], environment)
    read = re.search(r"([0-9.]+ \w+) hashed", output).group(1)
    print(f"  again, unchanged: {seconds * 1e3:.1f} ms, {read} read")
    for place in places:
        place.unlink()


def many_objects(sabath, environment, cache):
    for number in range(OBJECTS):
        make_object(cache, [str(number).encode() * 200])
    print(f"\nverify of {OBJECTS} small objects")
    for title, more in (("first", []), ("again, unchanged", []), ("--full", ["--full"])):
        seconds, peak, _ = timed([sabath, "--quiet", "verify", *more], environment)
        print(f"  {title:<20}{seconds:8.2f} s, peak {peak:.0f} MiB")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: verify.py SABATH [N]")
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as folder:
        home = pathlib.Path(folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment["SABATH_HOME"] = folder
        environment["SABATH_CONFIG"] = str(home / "config")
        timed([sabath, "--quiet", "verify"], environment)
        big_files(sabath, environment, home / "cache", repetitions)
        many_objects(sabath, environment, home / "cache")


if __name__ == "__main__":
    main()
