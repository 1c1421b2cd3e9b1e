#!/usr/bin/env python3
"""records_test.py PROGRAM: values of random records are, bit for bit, what the program says with --json."""

import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/python"))
sys.dont_write_bytecode = True

import pysabath  # noqa: E402
from pysabath import series as series_module  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
LETTERS = "abcß漢字🚀é/%. \"\\'<&é"
STAGE = """
import json, os, sys
sys.path.insert(0, os.environ["PYSABATH"])
import pysabath
for line in json.load(open(os.environ["LINES"], encoding="utf-8")):
    values = {name: float(value[1:]) if value[0] == "f" else int(value[1:]) for name, value in line["values"].items()}
    pysabath.log(values, step=line["step"], epoch=line["epoch"], time_s=line["time"])
"""
PARAMETERS = {
    "rate": {"type": "float", "default": 0.5},
    "count": {"type": "int", "default": 3},
    "text": {"type": "string", "default": "x"},
    "fast": {"type": "bool", "default": False},
    "layers": {"type": "list", "of": "float", "default": [1.5]},
    "names": {"type": "list", "of": "string", "default": ["a"]},
}


def some_number(rng):
    """A number as a text: "f" or "i", and how Python writes it."""
    kind = rng.randrange(8)
    if kind == 0:
        return "f" + rng.choice(["nan", "inf", "-inf", "-0.0", "0.0", "5e-324", "1.7976931348623157e+308", "1e+22"])
    if kind == 1:
        return f"i{rng.choice([-1, 1]) * (2**53 + rng.randrange(-3, 1000))}"
    if kind == 2:
        return f"i{rng.getrandbits(rng.randrange(1, 90))}"
    if kind == 3:
        return "f" + repr(struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0])
    return "f" + repr(rng.uniform(-1, 1) * 10 ** rng.randrange(-8, 8))


def some_lines(rng):
    names = sorted({"".join(rng.choice(LETTERS) for _ in range(rng.randrange(1, 10))).strip() for _ in range(12)} - {"", "step", "epoch"})
    lines = []
    for step in range(rng.randrange(1, 20)):
        of_line = rng.sample(names, rng.randrange(1, len(names) + 1))
        lines.append({"step": rng.choice([None, step, -step, 2**62]), "epoch": rng.choice([None, step]), "time": rng.choice([None, 0.1 * step]),
                      "values": {name: some_number(rng) for name in of_line}})
    return lines


def some_settings(rng):
    return {
        "rate": rng.choice([1e-7, -0.0, 1 / 3, 1e300, 5e-324, rng.uniform(-1, 1)]),
        "count": rng.choice([-(2**63), 2**63 - 1, 2**53 + 1, rng.randrange(100)]),
        "text": "".join(rng.choice(LETTERS) for _ in range(rng.randrange(1, 12))),
        "fast": rng.random() < 0.5,
        "layers": [rng.uniform(-1, 1) for _ in range(rng.randrange(1, 4))],
        "names": [rng.choice(["a", "ß b", "漢", "-1", "true"]) for _ in range(rng.randrange(1, 3))],
    }


def bits(value):
    """A number as it is told apart: NaN is one value, and -0.0 is not 0.0. A text of the program's is its number."""
    if isinstance(value, str):
        value = float(value.replace("Infinity", "inf"))
    if isinstance(value, int):
        return value
    return "NaN" if value != value else struct.pack("<d", value)


@unittest.skipUnless(PROGRAM, "needs the program")
class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.scratch.name)
        recipe = root / "random"
        recipe.mkdir()
        stages = [{"name": name, "run": ["python3", "{recipe}/stage.py"]} for name in ("one", "two")]
        (recipe / "recipe.json").write_text(json.dumps({"schema": 1, "name": "random", "parameters": PARAMETERS, "stages": stages}))
        (recipe / "stage.py").write_text(STAGE, encoding="utf-8")
        os.environ.update(SABATH_HOME=str(root / "home"), SABATH_PROGRAM=PROGRAM, PYSABATH=str(ROOT / "src/python"), LINES=str(root / "lines.json"))
        rng = random.Random(os.environ.get("RECORDS_SEED", "7"))
        cls.asked = []
        for seed in range(3):
            (root / "lines.json").write_text(json.dumps(some_lines(rng)), encoding="utf-8")
            settings = some_settings(rng)
            cls.asked.append((pysabath.run(str(recipe), seed=seed, set=settings).id, settings))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @staticmethod
    def program(*words):
        return json.loads(subprocess.run([PROGRAM, *words, "--json"], capture_output=True, check=True, encoding="utf-8").stdout)

    def each(self):
        for name, settings in self.asked:
            yield pysabath.read_run(name), self.program("show", name), settings

    def test_the_settings_come_back(self):
        for run, record, settings in self.each():
            self.assertEqual(repr(sorted(run.parameters.items())), repr(sorted(settings.items())))
            self.assertEqual(repr(run.parameters), repr(record["parameters"]))

    def test_metrics_of_the_record(self):
        count = 0
        for run, record, _ in self.each():
            self.assertEqual(sorted(run.metrics), sorted(f"{one['stream']}/{one['name']}" for one in record["metrics"]))
            for summary in record["metrics"]:
                metric = run.metrics[f"{summary['stream']}/{summary['name']}"]
                for key in ("first", "last", "min", "max", "mean", "median"):
                    self.assertEqual(bits(getattr(metric, key)), bits(float(bits_of_json(summary[key]))), (metric, key))
                shown = summary["median"] if summary.get("performance") else summary.get("judged", summary["last"])
                self.assertEqual(bits(metric.value), bits(float(bits_of_json(shown))), metric)
                self.assertEqual(metric.points, summary["points"])
                count += 1
        self.assertGreater(count, 50)

    def test_rows_of_the_table(self):
        for source in ("catalog", "folders"):
            rows = {row["id"]: row for row in pysabath.runs().to_records()}
            for run, record, _ in self.each():
                row = rows[run.id]
                for name, value in record["parameters"].items():
                    self.assertEqual(repr(row[f"params.{name}"]), repr(value), (source, name))
                for name, metric in run.metrics.items():
                    self.assertEqual(bits(row[f"metrics.{name}"]), bits(metric.value), (source, name))
                self.assertEqual((row["seed"], row["state"]), (record["seed"]["value"], "ok"))
            catalog = pathlib.Path(os.environ["SABATH_HOME"]) / "catalog.db"
            if source == "catalog":
                catalog.rename(catalog.with_suffix(".aside"))
            else:
                catalog.with_suffix(".aside").rename(catalog)

    def points(self):
        """All points of all metrics against the program's."""
        wholes = 0
        for run, record, _ in self.each():
            for summary in record["metrics"]:
                name = f"{summary['stream']}/{summary['name']}"
                metric, told = run.metrics[name], self.program("show", run.id, "--points", name)
                self.assertEqual([bits(one) for one in metric.values.tolist()], [bits(float(bits_of_json(one))) for one in told["value"]])
                self.assertEqual([one for one in metric.exact if isinstance(one, int) and abs(one) > 2**53 and int(float(one)) != one],
                                 [one for one in told["value"] if isinstance(one, int) and int(float(one)) != one])
                for place in ("step", "epoch"):
                    self.assertEqual(metric.series[place].tolist(), [series_module.NOT_REPORTED if one is None else one for one in told[place]])
                self.assertEqual([bits(one) for one in metric.series["time_s"].tolist()], [bits(one) for one in told["time_s"]])
                self.assertEqual({key: str(one) for key, one in metric.whole.items()}, summary.get("whole", {}), name)
                wholes += len(metric.whole)
        self.assertGreater(wholes, 1)

    def test_points_by_h5py(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("needs h5py")
        self.points()

    def without_h5py(self):
        before = series_module._library
        self.addCleanup(setattr, series_module, "_library", before)
        series_module._library = lambda name: None if name == "h5py" else before(name)

    def test_points_by_the_program(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("needs NumPy")
        self.without_h5py()
        self.points()

    def test_points_without_both_name_both(self):
        self.without_h5py()
        run = pysabath.read_run(self.asked[0][0])
        before = os.environ["SABATH_PROGRAM"]
        os.environ["SABATH_PROGRAM"] = "/nowhere"
        try:
            with self.assertRaisesRegex(pysabath.ProgramMissing, "h5py or the program 'sabath'.*\n.*pip install h5py, or install sabath"):
                next(iter(run.metrics.values())).values
        finally:
            os.environ["SABATH_PROGRAM"] = before


def bits_of_json(value):
    return value.replace("Infinity", "inf") if isinstance(value, str) else value


if __name__ == "__main__":
    unittest.main()
