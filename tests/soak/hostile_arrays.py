#!/usr/bin/env python3
"""Mutates files of HDF5 and NetCDF-4 and compares each with what it was made from.

hostile_arrays.py SABATH [--minutes N] [--files N] [--seed S] [--keep FOLDER] [--from FOLDER] [--series]

Whatever a file does to HDF5, sabath ends by itself with one of the documented statuses. Needs h5py and netCDF4 (PyPI).
With --series the mutated file is the series.h5 of a run, which 'show', 'compare', 'report' and 'check' read.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import h5py
import netCDF4
import numpy

DOCUMENTED = {0, 1, 3, 11}  # equal, different, not judged, damaged
MOST_SECONDS = 1800
VALUES = [0, 1, 2, 3, 4, 7, 8, 16, 64, 127, 128, 254, 255]


def make_hdf5(path, libver, user_block=0):
    """Every kind of layout, filter and type that HDF5 has code of its own for."""
    with h5py.File(path, "w", libver=libver, userblock_size=user_block) as file:
        file["plain"] = numpy.arange(12.0)
        for name, options in {"gzip": {"compression": "gzip", "shuffle": True}, "szip": {"compression": "szip"},
                              "lzf": {"compression": "lzf"}, "sums": {"fletcher32": True},
                              "scaled": {"scaleoffset": 3}}.items():
            try:
                file.create_dataset(name, data=numpy.arange(64.0).reshape(8, 8), chunks=(4, 4), **options)
            except ValueError:
                pass  # this HDF5 was built without it
        file.create_dataset("growing", data=numpy.arange(9), chunks=(2,), maxshape=(None,), fillvalue=7)
        file.create_dataset("texts", data=["a", "bb", "", "rrr"], dtype=h5py.string_dtype())
        file.create_dataset("fixed", data=numpy.array([b"one", b"two"]))
        sequences = file.create_dataset("sequences", (3,), dtype=h5py.vlen_dtype(numpy.int32))
        for i in range(3):
            sequences[i] = range(i + 1)
        file.create_dataset("enumeration", data=[0, 1, 1], dtype=h5py.enum_dtype({"no": 0, "yes": 1}))
        file.create_dataset("table", data=numpy.array([(1, 2.5, b"x")], dtype=[("i", "i4"), ("f", "f8"), ("s", "S4")]))
        file.create_dataset("half", data=numpy.arange(5, dtype="f2"))
        file.create_dataset("complex", data=numpy.arange(3) * 1j)
        file["references"] = numpy.array([file["plain"].ref, file["table"].ref], dtype=h5py.ref_dtype)
        file["region"] = numpy.array([file["gzip"].regionref[1:3, 2:5]], dtype=h5py.regionref_dtype)
        file["soft"] = h5py.SoftLink("/plain")
        group = file.create_group("group/inner", track_order=True)
        group["again"] = file["plain"]
        for i in range(12):
            group.attrs[f"attribute {i}"] = numpy.arange(i + 1)
        group.attrs["text"] = "some words"
        if libver != "earliest":
            view = h5py.VirtualLayout(shape=(6,), dtype="f8")
            view[:] = h5py.VirtualSource(".", "plain", shape=(12,))[3:9]
            file.create_virtual_dataset("view", view)


def make_small(path, name, **options):
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_dataset(name, **options)
        file[name].attrs["v"] = "words of another length"
        file[name].attrs["n"] = 3


def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 4)
        file.createDimension("t", None)
        for name, dimensions, kind in (("a", ("x",), "f8"), ("b", ("t", "x"), "i4"), ("s", ("x",), str)):
            variable = file.createVariable(name, kind, dimensions, zlib=kind != str)
            if name == "b":
                variable[:] = numpy.arange(8).reshape(2, 4)
            else:
                variable[:] = numpy.arange(4.0) if kind != str else numpy.array(list("wxyz"), dtype=object)
            variable.units = "m"
        file.title = "seed"


def make_seeds(folder):
    make_hdf5(folder / "earliest.h5", "earliest")
    make_hdf5(folder / "v110.h5", ("earliest", "v110"))
    make_hdf5(folder / "newest.h5", ("v110", "v110"))
    make_hdf5(folder / "block.h5", "earliest", 512)
    make_small(folder / "texts.h5", "x", data=["a", "bb", "rr"], dtype=h5py.string_dtype())
    make_small(folder / "enumeration.h5", "x", data=[0, 1], dtype=h5py.enum_dtype({"no": 0, "yes": 1}))
    make_small(folder / "szip.h5", "x", data=numpy.arange(64.0), chunks=(16,), compression="szip")
    make_small(folder / "scaled.h5", "x", data=numpy.arange(64), chunks=(16,), scaleoffset=0)
    make_netcdf(folder / "four.nc")


def interesting(bytes_, choose):
    """Most bytes of a file are nothing: places beside what is not zero."""
    for _ in range(20):
        at = choose.randrange(len(bytes_))
        if any(bytes_[max(at - 4, 0):at + 4]):
            return at
    return at


def mutated(original, choose):
    data = bytearray(original)
    for _ in range(choose.choice([1, 1, 1, 2, 2, 3, 5, 8])):
        at = interesting(data, choose)
        way = choose.randrange(8)
        if way <= 2:
            data[at] = choose.choice(VALUES)
        elif way == 3:
            data[at] ^= 1 << choose.randrange(8)
        elif way == 4:
            width = choose.choice([2, 4, 8])
            number = choose.choice([0, 1, (1 << (8 * width)) - 1, 1 << (8 * width - 1), choose.randrange(len(data))])
            data[at:at + width] = number.to_bytes(width, "little")
        elif way == 5:
            source, length = choose.randrange(len(data)), choose.choice([1, 4, 8, 32])
            data[at:at + length] = data[source:source + length]
        elif way == 6:
            data[at:at] = bytes(choose.choice([1, 2, 8]))
        else:
            del data[at:at + choose.choice([1, 2, 8])]
        if len(data) < 64:
            return bytearray(original)
    return data


def compare(sabath, one, other, environment):
    return run(environment, sabath, "compare", one, other)


def run(environment, *words):
    """Exit status (None: it had to be killed) and all that it said."""
    child = subprocess.Popen([str(word) for word in words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = child.communicate(timeout=MOST_SECONDS)
        return child.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, ""


RECIPE = """{"schema": 1, "name": "series", "require": "bitwise", "environment": {"layers": []},
 "stages": [{"name": "go", "run": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo '{{\\"step\\": '$i', \\"sum\\": 1839201938472018'$i', \\"loss\\": 0.'$i'}}'; done >> $SABATH_METRICS"]}],
 "metrics": {"sum": {"from": "jsonl"}, "loss": {"from": "jsonl"}}}"""


class Series:
    """Two equal runs; the second one's series.h5 is whatever a test puts there."""

    def __init__(self, sabath, folder, environment):
        self.sabath, self.folder, self.environment = sabath, folder, environment
        recipe = folder / "series"
        recipe.mkdir()
        (recipe / "recipe.json").write_text(RECIPE)
        self.baseline = folder / "baseline.json"
        for words in [("run", recipe, "--seed", 1)] * 2 + [("baseline", "propose", "recipe=series", "-o", self.baseline),
                                                           ("baseline", "accept", self.baseline, "--by", "anna")]:
            status, output = run(environment, sabath, *words)
            if status != 0:
                sys.exit(f"{words}: status {status}\n{output}")
        self.a, self.b = sorted(path for path in (folder / "home/runs").rglob("series.h5"))
        self.bytes = self.b.read_bytes()

    def try_one(self, choose):
        self.b.write_bytes(mutated(self.bytes, choose))
        a, b = self.a.parent.name, self.b.parent.name
        words = choose.choice([("show", b), ("compare", a, b), ("compare", b, a), ("check", b, "--baseline", self.baseline),
                               ("report", a, b, "--output", self.folder / "report.html")])
        return run(self.environment, self.sabath, *words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sabath")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for files that ended a reader process")
    parser.add_argument("--from", dest="seeds", type=pathlib.Path, help="a folder with further files to mutate")
    parser.add_argument("--files", type=int, default=1 << 60)
    parser.add_argument("--series", action="store_true")
    options = parser.parse_args()
    choose = random.Random(options.seed)
    counts = collections.Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "seeds").mkdir()
        make_seeds(folder / "seeds")
        seeds = sorted((folder / "seeds").iterdir()) + (sorted(options.seeds.iterdir()) if options.seeds else [])
        environment = {**os.environ, "SABATH_HOME": str(folder / "home"), "MALLOC_PERTURB_": "165"}
        print(f"seed {options.seed}, {len(seeds)} files", flush=True)
        for seed in seeds:
            status, output = compare(options.sabath, seed, seed, environment)
            is_ours = seed.parent == folder / "seeds"
            if status not in ((0, 3) if is_ours else DOCUMENTED):
                sys.exit(f"{seed.name} is no good file: status {status}\n{output}")
        series = Series(options.sabath, folder, environment) if options.series else None
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end and counts["files"] < options.files:
            seed = choose.choice(seeds)
            path = folder / f"mutated{seed.suffix}"
            if series:
                seed = path = series.b
                status, output = series.try_one(choose)
            else:
                path.write_bytes(mutated(seed.read_bytes(), choose))
                status, output = compare(options.sabath, path, seed, environment)
            counts["files"] += 1
            counts[f"status {status}"] += 1
            ends = re.findall(r"the reader process (was killed by signal \d+ \(\w+\)|took more than|needed more than|exited)",
                              output)
            for how in set(ends):
                counts[how] += 1
            is_failure = status not in DOCUMENTED
            failures += is_failure
            if options.keep and (ends or is_failure):
                options.keep.mkdir(parents=True, exist_ok=True)
                word = "FAILED" if is_failure else "ended"
                (options.keep / f"{word}_{options.seed}_{counts['files']}_{seed.name}").write_bytes(path.read_bytes())
            if is_failure:
                print(f"FAILED: status {status}, file {counts['files']} of {seed.name}\n{output[-2000:]}", flush=True)
    print(", ".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
