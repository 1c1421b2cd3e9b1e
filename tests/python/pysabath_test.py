#!/usr/bin/env python3
"""pysabath_test.py PROGRAM: the Python package against the program, over runs of a small recipe. h5py and pandas are used where they are."""

import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src/python"))
sys.dont_write_bytecode = True

import pysabath  # noqa: E402
from pysabath import home as home_module, selection  # noqa: E402
from pysabath.series import escaped  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None

RECIPE = {
    "schema": 1,
    "name": "tiny",
    "parameters": {
        "rate": {"type": "float", "default": 0.5},
        "width": {"type": "int", "default": 3},
        "fast": {"type": "bool", "default": False},
        "mode": {"type": "string", "default": "x"},
        "layers": {"type": "list", "of": "int", "default": [4, 2]},
    },
    "stages": [{"name": "train", "run": ["python3", "{recipe}/train.py"], "outputs": ["out.json"]}],
    "metrics": {"loss": {"better": "lower", "kind": "result"}, "größe/a": {}, "count": {}},
}
TRAIN = """
import json, os, sys
sys.path.insert(0, os.environ["PYSABATH"])
import pysabath
values = json.load(open(os.environ["SABATH_PARAMETERS"]))
rate = values["rate"]
for step, loss in enumerate([rate, rate / 3, -0.0 if values["fast"] else rate / 7]):
    pysabath.log({"loss": loss, "gr\\u00f6\\u00dfe/a": loss * 2, "count": 9007199254740993 + step}, step=step)
if values["mode"] == "nan":
    pysabath.log({"loss": float("nan")}, step=3)
json.dump({"a": 1}, open(os.path.join(os.environ["SABATH_OUTPUT_DIR"], "out.json"), "w"))
"""


def has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


@contextlib.contextmanager
def variables(**changed):
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update({name: value for name, value in changed.items() if value is not None})
    for name in (name for name, value in changed.items() if value is None):
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class WithRuns(unittest.TestCase):
    """A home with a few runs, made once."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        cls.home = root / "home"
        recipe = root / "tiny"
        recipe.mkdir()
        (recipe / "recipe.json").write_text(json.dumps(RECIPE), encoding="utf-8")
        (recipe / "train.py").write_text(TRAIN, encoding="utf-8")
        cls.recipe = str(recipe)
        os.environ.update(SABATH_HOME=str(cls.home), SABATH_PROGRAM=PROGRAM, PYSABATH=str(HERE.parents[1] / "src/python"))
        pysabath.run(cls.recipe, seed=1, tags=["first"])
        pysabath.run(cls.recipe, seed=2, set={"rate": 0.1, "width": 5, "fast": True, "layers": [8]})
        pysabath.run(cls.recipe, seed=2, set={"mode": "nan", "rate": 1e-7})
        subprocess.run([PROGRAM, "tag", "seed=1", "later"], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, *words):
        done = subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout) if done.stdout else None

    def ids(self, text):
        return [one.id for one in pysabath.runs(text)]


@unittest.skipUnless(PROGRAM, "needs the program")
class Reading(WithRuns):
    def test_selections_are_those_of_the_program(self):
        terms = ["recipe=tiny", "seed=1", "seed=02", "width=5", "width=5.0", "width=05", "rate=0.1", "rate=1e-1", "rate=.5", "rate=1e-07",
                 "mode=nan", "mode=x", "fast=true", "tag=first", "tag=later", "tag=none", "state=ok", "status=failed", "user=nobody", "width=x"]
        rng = random.Random(1)
        texts = terms + [",".join(rng.sample(terms, 2)) for _ in range(25)] + ["loss<0.1", "@last", "width=3..9", "rate=0.1 or seed=1", ""]
        for text in texts:
            status, answer = self.program("list", "runs", *([text] if text else []))
            with self.subTest(text):
                self.assertEqual(status, 0)
                self.assertEqual(self.ids(text), [row["id"] for row in answer["runs"]])

    def test_simple_terms_give_the_same_without_the_program(self):
        for text in ("seed=2", "width=5.0,rate=1e-1", "tag=later", "mode=nan"):
            with_program = self.ids(text)
            with variables(SABATH_PROGRAM="/nowhere"):
                self.assertEqual(self.ids(text), with_program)
                self.assertTrue(with_program)

    def test_without_a_catalog_the_folders_of_runs_are_read(self):
        before = {text: self.ids(text) for text in ("", "seed=2", "width=5", "tag=later", "rate=1e-7")}
        catalog = self.home / "catalog.db"
        aside = self.home / "aside.db"
        with variables(SABATH_PROGRAM="/nowhere"):
            rows = pysabath.runs().to_records()
            catalog.rename(aside)
            try:
                for text, expected in before.items():
                    self.assertEqual(self.ids(text), expected, text)
                again = pysabath.runs().to_records()
            finally:
                aside.rename(catalog)
        self.assertEqual(repr(sorted_rows(again)), repr(sorted_rows(rows)))

    def test_values_are_bit_for_bit_those_of_the_record(self):
        for one in pysabath.runs():
            _, record = self.program("show", one.id)
            self.assertEqual(one.record["parameters"], record["parameters"])
            for summary in record["metrics"]:
                metric = one.metrics[f"{summary['stream']}/{summary['name']}"]
                for key in ("first", "last", "min", "max", "mean", "median"):
                    self.assertEqual(bits(getattr(metric, key)), bits(float(str(summary[key]).replace("Infinity", "inf"))), key)
            [row] = [row for row in pysabath.runs().to_records() if row["id"] == one.id]
            for name, metric in one.metrics.items():
                self.assertEqual(bits(row[f"metrics.{name}"]), bits(metric.value), name)
            for name, value in record["parameters"].items():
                self.assertEqual(repr(row[f"params.{name}"]), repr(value), name)

    @unittest.skipUnless(has("h5py"), "needs h5py")
    def test_points_are_arrays_with_all_digits(self):
        [one] = pysabath.runs("seed=1")
        self.assertEqual(one.metrics["count"].exact, [9007199254740993 + step for step in range(3)])
        self.assertEqual(one.metrics["loss"].values.tolist(), [0.5, 0.5 / 3, 0.5 / 7])
        self.assertEqual(one.metrics["loss"].step.tolist(), [0, 1, 2])
        self.assertEqual(one.metrics["train/größe/a"].values.tolist(), [1.0, 1.0 / 3, 1.0 / 7])

    @unittest.skipUnless(has("pandas"), "needs pandas")
    def test_a_frame_has_a_row_for_each_run(self):
        frame = pysabath.runs("recipe=tiny").to_frame()
        self.assertEqual(len(frame), 3)
        self.assertEqual(sorted(frame["seed"].tolist()), [1, 2, 2])
        self.assertEqual(sorted(frame["params.width"].tolist()), [3, 3, 5])
        self.assertTrue(frame["metrics.train/loss"].isna().any())
        self.assertEqual(len(pysabath.runs("tag=none").to_frame()), 0)

    def test_tags_notes_and_outputs(self):
        [one] = pysabath.runs("seed=1")
        self.assertEqual(one.tags, ["first", "later"])
        self.assertEqual(one.output("out.json").open(), {"a": 1})
        self.assertEqual([(output.stage, output.name) for output in one.outputs], [("train", "out.json")])
        self.assertEqual(one.facets["parameters"]["width"], "3")
        self.assertIn("os", one.facets["host"])
        with self.assertRaisesRegex(pysabath.NotFound, "outputs are"):
            one.output("none")

    def test_wrong_names_are_errors(self):
        for text in ("widht=3", "recpe=x"):
            with variables(SABATH_PROGRAM="/nowhere"), self.assertRaisesRegex(pysabath.UsageError, "no parameter or metric"):
                pysabath.runs(text)
        with self.assertRaises(pysabath.UsageError):
            pysabath.runs("recipe=none")
        with variables(SABATH_PROGRAM="/nowhere"), self.assertRaisesRegex(pysabath.ProgramMissing, "install sabath"):
            pysabath.runs("loss<1")
        with self.assertRaises(KeyError):
            pysabath.runs("seed=1")[0].metrics["none"]
        with self.assertRaisesRegex(pysabath.NotFound, "no home"):
            pysabath.runs(home="/nowhere")

    def test_one_run_by_its_id(self):
        [one] = pysabath.runs("seed=1")
        self.assertEqual(pysabath.read_run(one.id), one)
        self.assertEqual(pysabath.read_run(one.id[:-1]), one)
        self.assertEqual(pysabath.read_run("@last"), pysabath.runs()[0])
        with self.assertRaisesRegex(pysabath.UsageError, "ids begin so"):
            pysabath.read_run("tiny-")

    def test_a_newer_catalog_or_record_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            import sqlite3

            database = sqlite3.connect(pathlib.Path(folder) / "catalog.db")
            database.execute("pragma user_version = 99")
            database.commit()
            database.close()
            with self.assertRaisesRegex(pysabath.NewerFormat, "99"):
                pysabath.runs(home=folder)
            record = pathlib.Path(folder) / "record.json"
            record.write_text('{"schema": 2}', encoding="utf-8")
            with self.assertRaisesRegex(pysabath.NewerFormat, "schema 2"):
                home_module.read_json(record)


@unittest.skipUnless(PROGRAM, "needs the program")
class Doing(WithRuns):
    def test_a_comparison_is_a_verdict(self):
        one, other = pysabath.runs("seed=2")
        verdict = pysabath.compare(one, other, across=["rate"])
        self.assertIn(verdict.result, ("FAIL", "NOT-COMPARABLE"))
        self.assertFalse(verdict)
        again = pysabath.run(self.recipe, seed=1)
        self.assertTrue(pysabath.compare(pysabath.runs("tag=first")[0], again))

    def test_a_failed_run_is_an_answer(self):
        failed = pysabath.run(self.recipe, seed=9, options=["--set", "rate=0"], set={"mode": "x"})
        self.assertEqual(failed.state, "ok")
        with self.assertRaisesRegex(pysabath.UsageError, "rat"):
            pysabath.run(self.recipe, set={"rat": 1})
        with self.assertRaises(pysabath.NotFound):
            pysabath.run("no-such-recipe")

    def test_a_study_gives_its_runs(self):
        made = pysabath.study(self.recipe, sweep={"width": [1, 2]}, seeds=[1, 2])
        self.assertEqual(sorted((one.parameters["width"], one.record["seed"]["value"]) for one in made), [(1, 1), (1, 2), (2, 1), (2, 2)])


class Small(unittest.TestCase):
    def test_what_is_read_here_and_what_the_program_reads(self):
        for text in ("a=1", "recipe=x,seed=1", ""):
            self.assertIsNotNone(selection.simple_terms(text), text)
        for text in ("a<1", "a=1..3", "@last", "a=x*", "a='x, y'", "not a=1", "a=1 or b=2", "wall=3", "last.loss=1", "a.lt=3", "l=1,2", "a~b"):
            self.assertIsNone(selection.simple_terms(text), text)

    def test_names_in_series_are_escaped(self):
        self.assertEqual(escaped(".a/b%\n"), "%2Ea%2Fb%25%0A")

    def test_a_program_of_another_version_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for version, count in (("9.1.0", 1), (pysabath.__version__, 0)):
                program = pathlib.Path(folder) / f"sabath-{version}"
                program.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo sabath {version} || echo '{{}}'\n")
                program.chmod(0o755)
                with variables(SABATH_PROGRAM=str(program)), warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    pysabath.show("x", home=folder)
                    pysabath.show("x", home=folder)
                self.assertEqual(len(said), count)
                self.assertTrue(all("is version 9.1.0" in str(one.message) for one in said))

    def test_a_program_that_cannot_be_used_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "sabath"
            broken.write_text("#!/nowhere/interpreter\n")
            broken.chmod(0o755)
            with variables(SABATH_PROGRAM=str(broken)), self.assertRaisesRegex(pysabath.ProgramMissing, "cannot be started"):
                pysabath.show("x")
            broken.write_text("#!/bin/sh\necho hello\n")
            with variables(SABATH_PROGRAM=str(broken)), self.assertRaisesRegex(pysabath.SabathError, "not JSON"):
                pysabath.show("x")
            with variables(SABATH_PROGRAM=None, PATH=folder + "/empty"), self.assertRaisesRegex(pysabath.ProgramMissing, "install sabath"):
                pysabath.run("x")

    def test_the_predecessor_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "sabath").mkdir()
            (pathlib.Path(folder) / "sabath/__init__.py").touch()
            path = os.pathsep.join([folder, str(HERE.parents[1] / "src/python")])
            done = subprocess.run([sys.executable, "-c", "import pysabath"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
            self.assertIn("Python SABATH", done.stderr)


def bits(value):
    import struct

    return "NaN" if value != value else struct.pack("<d", value)


def sorted_rows(rows):
    return [{key: row[key] for key in sorted(row)} for row in rows]


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()
