"""The measurements of run.sh: pairs of commands, started alternately, compared by their medians."""

import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import fetch_bench

def start(argv, environment):
    """Runs argv to its end, output to nowhere; returns seconds of wall time."""
    nowhere = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    begin = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, environment, file_actions=nowhere)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(argv)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds


def alternate(ours, reference, environment, repetitions):
    """A B A B ...: both see the same load. A first round of each warms up and is not counted."""
    times = ([], [])
    for round_number in range(repetitions + 1):
        for side, argv in enumerate((ours, reference)):
            seconds = start(argv, environment)
            if round_number > 0:
                times[side].append(seconds * 1e3)
    return times


def spread(times):
    return f"{statistics.median(times):8.1f} ms  ({min(times):.1f} to {max(times):.1f}, n = {len(times)})"


def tell(title, ours, reference, times, verdict):
    print(f"\n{title}")
    for argv, side in zip((ours, reference), times):
        name = " ".join([pathlib.Path(argv[0]).name, *argv[1:]])
        print(f"  {name:<28}{spread(side)}")
    print(f"  {verdict}")


def against(bar, value, unit):
    word = "within" if value <= bar else "BEYOND"
    return f"{value:.2f} {unit}: {word} the bar of {bar:g} {unit}"


def medians(times):
    return statistics.median(times[0]), statistics.median(times[1])


def start_up(sabath, environment, repetitions):
    ours, reference = [sabath, "--version"], ["curl", "--version"]
    if shutil.which("curl") is None:
        print("\nstart: curl is not installed, so there is no reference")
        return
    times = alternate(ours, reference, environment, repetitions)
    a, b = medians(times)
    tell("start", ours, reference, times, "ratio to curl: " + against(1.5, a / b, "x"))


def cache_hit(sabath, environment, repetitions):
    """Fetch of what is there: the same libraries to load as curl's."""
    if shutil.which("curl") is None:
        return
    source = pathlib.Path(environment["SABATH_HOME"]) / "source.bin"
    source.write_bytes(bytes(10_000_000))
    ours, reference = [sabath, "fetch", f"file://{source}"], ["curl", "--version"]
    subprocess.run(ours, env=environment, check=True, capture_output=True)
    times = alternate(ours, reference, environment, repetitions)
    a, b = medians(times)
    tell("fetch of what is there", ours, reference, times, "ratio to curl: " + against(2, a / b, "x"))


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: run.sh SABATH [N]")
    sabath = str(pathlib.Path(sys.argv[1]).resolve())
    repetitions = max(20, int(sys.argv[2])) if len(sys.argv) == 3 else 20
    version = subprocess.run([sabath, "--version"], capture_output=True, text=True, check=True)
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores, {date}, load {load}")
    print(f"{version.stdout.strip()}, {repetitions} repetitions, medians (least to greatest)")
    with tempfile.TemporaryDirectory(prefix="sabath-bench-") as folder:
        home = pathlib.Path(folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SABATH_")}
        environment["SABATH_HOME"] = folder
        environment["SABATH_CONFIG"] = str(home / "config")
        start_up(sabath, environment, repetitions)
        cache_hit(sabath, environment, repetitions)
        fetch_bench.measure(sabath, home, environment, max(3, repetitions // 10))


if __name__ == "__main__":
    main()
