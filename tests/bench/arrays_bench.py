"""The rows of arrays: two files of 1 GiB, equal and differing in one value, against h5diff.

arrays_bench.py SABATH [N]
"""

import array
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

VALUES = 1 << 27  # of 8 bytes: 1 GiB
BAR_RATIO = 0.5
BAR_MIB = 256
BLOCK = 1 << 20


def write_contiguous(path):
    """With the tool that comes with h5diff: no Python package is needed."""
    numbers = path.with_suffix(".bin")
    block = array.array("d", (0.5 + index / 3 for index in range(BLOCK)))
    with open(numbers, "wb") as file:
        for begin in range(0, VALUES, BLOCK):
            block[0] = begin
            block.tofile(file)
    settings = path.with_suffix(".conf")
    settings.write_text("PATH data\nINPUT-CLASS FP\nINPUT-SIZE 64\nINPUT-BYTE-ORDER LE\nRANK 2\n"
                        f"DIMENSION-SIZES {VALUES // 1024} 1024\nOUTPUT-CLASS FP\nOUTPUT-SIZE 64\n"
                        "OUTPUT-ARCHITECTURE IEEE\nOUTPUT-BYTE-ORDER LE\n")
    subprocess.run(["h5import", str(numbers), "-c", str(settings), "-o", str(path)], check=True, capture_output=True)
    numbers.unlink()


def change_one(path):
    """Makes the number in the middle another, wherever it lies in the file."""
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2 // 8 * 8)
        at = file.tell()
        value = struct.unpack("<d", file.read(8))[0]
        file.seek(at)
        file.write(struct.pack("<d", value * 1.001))


def measured(argv, environment):
    """Seconds, peak MiB and exit status of a command."""
    begin = time.perf_counter()
    child = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begin, usage.ru_maxrss / 1024, child.returncode


def warm(path):
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass


def main():
    sabath = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    if not shutil.which("h5diff") or not shutil.which("h5import"):
        sys.exit("h5diff and h5import are not there: Debian has them in hdf5-tools")
    with tempfile.TemporaryDirectory() as folder:
        first, equal, other = (pathlib.Path(folder) / name for name in ("a.h5", "b.h5", "c.h5"))
        write_contiguous(first)
        shutil.copyfile(first, equal)
        shutil.copyfile(first, other)
        change_one(other)
        environment = {**os.environ, "SABATH_HOME": folder + "/home"}
        for name, second, status in (("equal", equal, 0), ("one value differs", other, 1)):
            for path in (first, second):
                warm(path)
            ours, theirs = [], []
            for _ in range(times):
                ours.append(measured([sabath, "compare", str(first), str(second)], environment))
                theirs.append(measured(["h5diff", str(first), str(second)], environment))
            if {run[2] for run in ours + theirs} != {status}:
                sys.exit(f"{name}: exit statuses {[run[2] for run in ours + theirs]}")
            medians = []
            for tool, runs in (("sabath compare", ours), ("h5diff", theirs)):
                taken = sorted(run[0] for run in runs)
                medians.append(taken[len(taken) // 2])
                print(f"2 x 1 GiB, {name}: {tool} {medians[-1]:.3f} s ({taken[0]:.3f} to {taken[-1]:.3f}), "
                      f"{max(run[1] for run in runs):.0f} MiB")
            ratio = medians[0] / medians[1]
            peak = max(run[1] for run in ours)
            word = "within" if ratio <= BAR_RATIO and peak <= BAR_MIB else "beyond"
            print(f"2 x 1 GiB, {name}: {ratio:.2f} of its time with {peak:.0f} MiB, {word} {BAR_RATIO:g} and {BAR_MIB} MiB")


if __name__ == "__main__":
    main()
