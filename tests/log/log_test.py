#!/usr/bin/env python3
"""log_test.py: lines of sabath_log.h and sabath_log.f90, compiled with each compiler that is here, against those of the Python package."""

import functools
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
COMMANDS = {
    "C99 of GCC": ["gcc", "-std=c99", *STRICT],
    "C99 of GCC with fast arithmetic": ["gcc", "-std=c99", "-Ofast", *STRICT],
    "C++17 of GCC": ["g++", "-std=c++17", "-Wshadow", "-Wconversion", *STRICT, "-x", "c++"],
    "C++11 of GCC": ["g++", "-std=c++11", *STRICT, "-x", "c++"],
    "C99 of Clang": ["clang", "-std=c99", *STRICT],
    "C++17 of Clang": ["clang++", "-std=c++17", *STRICT, "-x", "c++"],
    "Fortran of GCC": ["gfortran", "-std=f2008", "-fopenmp", *STRICT],
    "Fortran of GCC, optimised": ["gfortran", "-std=f2008", "-fopenmp", "-O3", *STRICT],
}
ALTERNATIVES = {"clang": ("clang", "clang-14", "clang-16"), "clang++": ("clang++", "clang++-14", "clang++-16")}


def compiler(name):
    return next((found for one in ALTERNATIVES.get(name, (name,)) if (found := shutil.which(one))), None)


def build(command, folder):
    """Returns the path of the program, or None where the compiler is not there."""
    program = compiler(command[0])
    if program is None:
        return None
    folder.mkdir()
    made = folder / "log"
    if command[0] == "gfortran":
        sources = ["-J", str(folder), str(ROOT / "src/fortran/sabath_log.f90"), str(ROOT / "tests/log/log.f90")]
    else:
        sources = [f"-I{ROOT / 'include'}", str(ROOT / "tests/log/log.c")]
    subprocess.run([program, *command[1:], *sources, "-o", str(made), "-pthread"], check=True)
    return made


def outside(variables):
    """The variables of this process without those of a run, and with `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SABATH_", "OMPI_", "PMI_", "SLURM_"))}
    return {**kept, **variables}


def some_bits(count):
    """Bits of doubles: edges, all kinds of exponents, and short decimals."""
    rng = random.Random(23)
    edges = [0.0, -0.0, 1.0, -1.5, 0.1, 1e15, 1e16, 123456789012345680.0, 1e22, 1e-4, 1e-5, 9.999e-5, 5e-324, 2.2250738585072014e-308,
             1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 2.0**-44, math.nan, math.inf, -math.inf, 0.3, 100.0, 1e100, 4.35, 2.5e-310]
    edges += [math.ldexp(1.0, power) for power in range(-1074, 1024, 7)]
    edges += [round(rng.uniform(-1000, 1000), rng.randrange(6)) for _ in range(count)]
    bits = [struct.unpack("<Q", struct.pack("<d", value))[0] for value in edges]
    return bits + [rng.getrandbits(64) for _ in range(count)]


def with_each(test):
    """A test of each compiled program by its name."""

    @functools.wraps(test)
    def tests(self):
        self.assertTrue(self.programs)
        for name, program in self.programs.items():
            with self.subTest(name):
                test(self, name, program)

    return tests


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        built = {name: build(command, cls.folder / str(number)) for number, (name, command) in enumerate(COMMANDS.items())}
        cls.programs = {name: made for name, made in built.items() if made is not None}
        print("not tested, without a compiler:", sorted(set(built) - set(cls.programs)), file=sys.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_in(self, program, word, text="", **variables):
        """Returns the finished program and what it appended to its file."""
        path = self.folder / "m.jsonl"
        path.write_bytes(b"")
        done = subprocess.run([program, word], input=text, env=outside({"SABATH_METRICS": str(path), **variables}), capture_output=True,
                              text=True, timeout=120)
        return done, path.read_text(encoding="utf-8")

    def lines_of_python(self, bits):
        path = self.folder / "python.jsonl"
        path.unlink(missing_ok=True)
        code = """if True:
            import struct, sys
            import pysabath
            for step, line in enumerate(sys.stdin):
                pysabath.log({"v": struct.unpack("<d", struct.pack("<Q", int(line, 16)))[0]}, step=step)"""
        variables = outside({"SABATH_METRICS": str(path), "PYTHONPATH": str(ROOT / "src/python")})
        subprocess.run([sys.executable, "-c", code], input=bits, env=variables, text=True, check=True)
        return path.read_text(encoding="utf-8").splitlines()

    @with_each
    def test_numbers_are_written_as_python_writes_them(self, name, program):
        bits = some_bits(3000)
        text = "".join(f"{one:016x}\n" for one in bits)
        expected = self.lines_of_python(text)
        done, lines = self.run_in(program, "bits", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = lines.splitlines()
        values = [as_bits(json.loads(line)["v"]) for line in found]
        self.assertEqual(values, [as_bits(json.loads(line)["v"]) for line in expected])
        # Of a power of two the nearest number of 16 digits may be another one: a 17th digit is written.
        others = [line for line, one, bits in zip(found, expected, bits) if line != one and bits & (2**52 - 1)]
        self.assertEqual(others, [])

    @with_each
    def test_a_locale_with_a_decimal_comma_changes_nothing(self, name, program):
        """A library that is preloaded sets the locale, which is made here."""
        locale, comma = self.folder / "de_DE.UTF-8", self.folder / "comma.so"
        if shutil.which("localedef") is None or compiler("gcc") is None:
            self.skipTest("needs localedef and gcc")
        if not comma.exists():
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(locale)], capture_output=True)
            if not locale.exists():
                self.skipTest(f"localedef: {made.stderr}")
            source = self.folder / "comma.c"
            source.write_text("""#include <locale.h>
                #include <stdlib.h>
                __attribute__((constructor)) static void set(void) {
                  if (!setlocale(LC_ALL, "") || *localeconv()->decimal_point != ',') abort();
                }""")
            subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(comma)], check=True)
        variables = {"LC_ALL": locale.name, "LOCPATH": str(self.folder), "LD_PRELOAD": str(comma)}
        done, lines = self.run_in(program, "bits", f"{as_bits(1.5):016x}\n{as_bits(0.1):016x}\n", **variables)
        self.assertEqual((done.returncode, lines), (0, '{"step": 0, "v": 1.5}\n{"step": 1, "v": 0.1}\n'), done.stderr)

    @with_each
    def test_threads_and_forked_processes_write_whole_lines(self, name, program):
        done, lines = self.run_in(program, "at-once")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [json.loads(line) for line in lines.splitlines()]
        own = sorted((one["v"], one["step"]) for one in found if "v" in one)
        self.assertEqual(own, [(thread, step) for thread in range(64) for step in range(50)])
        self.assertEqual(sorted(one["child"] for one in found if "child" in one), list(range(8)))

    @with_each
    def test_names_seeds_and_orders(self, name, program):
        tail = [{"epoch": 0, "sample_ids": [3, -1, 2]}, {"sample_ids": ["a", 'b"c']}, {"sample_order": "sha256:00"}]
        done, lines = self.run_in(program, "others")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual(found[-3:], tail)
        if name.startswith("Fortran"):
            self.assertEqual(found[0], {"step": 12, "epoch": 1, 'größe/"a\\b"': 0.1, "b": -0.0})
            self.assertEqual(found[1:5], [{"most": 2**63 - 1}, {"step": 3, "half": 0.5}, {"epoch": 2, "four": 4}, {"seeds": {"numpy": 7}}])
        else:
            self.assertEqual(found[0], {"step": 12, "epoch": 1, 'größe/"a\\b"': 0.1, "most": 2**63 - 1, "least": -(2**63)})
            self.assertEqual(found[1:3], [{"no_step": 1.0}, {"seeds": {"numpy": 2**64 - 1}}])

    @with_each
    def test_long_reports_are_lines_that_can_be_read(self, name, program):
        done, lines = self.run_in(program, "much")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(max(map(len, lines.splitlines())), 2**14)
        found = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual([one for line in found for one in line.get("sample_ids", [])], list(range(100_000)))
        self.assertTrue(all(line["epoch"] == 4 for line in found if "sample_ids" in line))
        values = {name: value for line in found if line.get("step") == 5 for name, value in line.items() if name != "step"}
        self.assertEqual(values, {f"name{i}": float(i) for i in range(1000)})

    @with_each
    def test_wrong_names_are_refused_and_told_once(self, name, program):
        done, lines = self.run_in(program, "wrong")
        self.assertEqual((done.returncode, lines), (0, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("nothing is recorded", done.stderr)

    @with_each
    def test_outside_of_a_run_nothing_happens(self, name, program):
        for word in ("others", "at-once", "much"):
            done, lines = self.run_in(program, word, SABATH_METRICS="")
            self.assertEqual((done.returncode, done.stderr, lines), (0, "", ""))
        done, _ = self.run_in(program, "returns", SABATH_METRICS="")
        self.assertIn(done.stdout.split(), (["0", "0", "0", "0"], ["0", "0", "F"]))

    @with_each
    def test_a_full_disk_is_told_once_and_ends_nothing(self, name, program):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("needs /dev/full")
        done, _ = self.run_in(program, "returns", SABATH_METRICS="/dev/full")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(all(word != "0" for word in done.stdout.split()[:2]), done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("No space left on device", done.stderr)
        missing, _ = self.run_in(program, "returns", SABATH_METRICS="/nowhere/m.jsonl")
        self.assertEqual(missing.returncode, 0)
        self.assertEqual(len(missing.stderr.splitlines()), 1, missing.stderr)
        self.assertIn("/nowhere/m.jsonl: cannot be written: No such file or directory", missing.stderr)
        if not name.startswith("Fortran"):
            found = [self.run_in(program, "open", SABATH_METRICS=path)[0].returncode for path in ("/nowhere/m.jsonl", "", "/dev/null")]
            self.assertEqual(found, [3, 0, 0])

    @with_each
    def test_a_line_that_was_cut_short_does_not_damage_the_next_one(self, name, program):
        if name.startswith("Fortran"):
            self.skipTest("the stand-in for a full disk is in C")
        done, lines = self.run_in(program, "cut")
        self.assertEqual(done.returncode, 0, done.stderr)
        before, cut, after = lines.splitlines()
        self.assertEqual((json.loads(before), json.loads(after)), ({"before": 1.0}, {"after": 1.0}))
        self.assertTrue('{"cut": 1.0}'.startswith(cut), cut)

    @with_each
    def test_ranks_have_their_own_files(self, name, program):
        rank = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "SABATH_METRICS_DIR": str(self.folder)}
        own = self.folder / "metrics-3.jsonl"
        own.unlink(missing_ok=True)
        done, lines = self.run_in(program, "returns", **rank)
        self.assertEqual((done.returncode, lines), (0, ""))
        self.assertGreater(len(own.read_text().splitlines()), 1)
        for changed in ({"SABATH_RANK": "3"}, {"OMPI_COMM_WORLD_SIZE": "1"}, {"OMPI_COMM_WORLD_RANK": "../x"}):
            self.assertTrue(self.run_in(program, "returns", **{**rank, **changed})[1], changed)


def as_bits(value):
    if value in ("NaN", "Infinity", "-Infinity"):
        value = float(value.replace("Infinity", "inf"))
    return "NaN" if value != value else struct.unpack("<Q", struct.pack("<d", value))[0]


class Copies(unittest.TestCase):
    def test_recipes_have_the_header_as_it_is(self):
        """A recipe's folder is whole: it can be copied, and its code is digested."""
        header = (ROOT / "include/sabath_log.h").read_bytes()
        copies = sorted(ROOT.glob("recipes/**/sabath_log.h"))
        self.assertTrue(copies)
        for copy in copies:
            self.assertEqual(copy.read_bytes(), header, f"{copy}: is not include/sabath_log.h")


if __name__ == "__main__":
    unittest.main()
