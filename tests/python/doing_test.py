#!/usr/bin/env python3
"""doing_test.py PROGRAM: what the Python package asks of the program: assets, studies, runs that are under way, calls of HPCFAIR."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/python"))
sys.dont_write_bytecode = True

import pysabath  # noqa: E402
from pysabath import files, hpcfair  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
FIXTURES = pathlib.Path(os.environ.get("SABATH_FIXTURES", ROOT.parent / "shared/fixtures"))

DIGITS = {
    "schema": 1,
    "kind": "dataset",
    "name": "mnist",
    "title": "Handwritten digits",
    "description": "Two images of 2 by 2 pixels",
    "format": "idx",
    "scripts": [
        {
            "name": "pre_processing_mnist_0",
            "command": ["sh", "-c", "wc -c <{asset}/images >{output}/size; echo {arg.num_threads} threads"],
            "arguments": {"num_threads": {"type": "int", "default": 1, "affects": "execution"}},
            "outputs": ["size"],
        }
    ],
}
MODEL = {"schema": 1, "kind": "model", "name": "mnist_model_us1", "title": "A network for mnist"}
RECIPE = {
    "schema": 1,
    "name": "digits-us1",
    "model": "mnist_model_us1",
    "datasets": {"digits": "mnist"},
    "parameters": {"epochs": {"type": "int", "default": 1}},
    "stages": [
        {"name": "train", "run": ["sh", "-c", "echo trained with {param.epochs} of $SABATH_DATASET_DIGITS"]},
        {"name": "answer", "task": "infer", "run": ["echo", "seven"]},
    ],
}
WORDS = {
    "schema": 1,
    "name": "words",
    "parameters": {
        "text": {"type": "string", "default": "x"},
        "layers": {"type": "list", "of": "int", "default": [1]},
        "rate": {"type": "float", "default": 0.5},
    },
    "stages": [{"name": "one", "run": ["true"]}],
}


def idx_of(shape, values):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(values)


@unittest.skipUnless(PROGRAM, "needs the program")
class WithHome(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.home = self.folder / "home"
        for name in ("assets", "recipes"):
            (self.home / name).mkdir(parents=True)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(SABATH_HOME=str(self.home), SABATH_PROGRAM=PROGRAM)

    def add_asset(self, document, **contents):
        listed = []
        for name, content in contents.items():
            path = self.folder / f"{document['name']}-{name}"
            path.write_bytes(content)
            listed.append({"path": name.replace("__", "."), "sources": [path.as_uri()]})
        text = json.dumps({**document, **({"files": listed} if listed else {})})
        (self.home / "assets" / f"{document['name']}.json").write_text(text)

    def add_recipe(self, document):
        folder = self.home / "recipes" / document["name"]
        folder.mkdir()
        (folder / "recipe.json").write_text(json.dumps(document))


class Assets(WithHome):
    def test_an_asset_is_fetched_and_opened_as_its_format(self):
        self.add_asset({"schema": 1, "kind": "dataset", "name": "values", "title": "v"}, values__json=b"[1, 2]")
        one = pysabath.asset("values")
        self.assertEqual(one.title, "v")
        self.assertEqual((one.fetch() / "values.json").read_bytes(), b"[1, 2]")
        self.assertEqual(one.open(), [1, 2])
        self.assertEqual(one.fetch(offline=True), one.fetch())

    def test_a_file_of_several_is_named(self):
        self.add_asset({"schema": 1, "kind": "dataset", "name": "two"}, a__txt=b"a", b__txt=b"b")
        with self.assertRaisesRegex(pysabath.NotFound, "has 2 files\n.*a.txt, b.txt"):
            pysabath.asset("two").open()
        self.assertEqual(pysabath.asset("two").open("b.txt"), "b")
        with self.assertRaises(pysabath.NotFound):
            pysabath.asset("two").open("c.txt")
        for wrong in ("../two-a__txt", "/etc/passwd"):
            with self.assertRaisesRegex(pysabath.UsageError, "leads out"):
                pysabath.asset("two").open(wrong)
        with self.assertRaises(pysabath.NotFound):
            pysabath.asset("none")

    def test_digits_in_idx(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs NumPy")
        self.add_asset(DIGITS, images=idx_of((2, 2, 2), range(8)))
        self.assertEqual(pysabath.asset("mnist").open().tolist(), [[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
        packed = self.folder / "images.gz"
        packed.write_bytes(gzip.compress(idx_of((3,), [7, 8, 9])))
        self.assertEqual(files.open_file(packed, "idx").tolist(), [7, 8, 9])
        for wrong in (b"", b"\0\0\x08\x02", idx_of((9,), [1]), b"hello world"):
            packed.write_bytes(wrong)
            with self.assertRaises(pysabath.SabathError):
                files.open_file(packed, "idx")
        self.assertEqual(numpy.asarray(pysabath.asset("mnist").open()).dtype, numpy.uint8)

    def test_what_may_execute_code_is_not_opened(self):
        path = self.folder / "x.pickle"
        path.write_bytes(b"cos\nsystem\n(S'false'\ntR.")
        self.assertEqual(pysabath.open_file(path, "pickle"), path)
        try:
            import numpy
        except ImportError:
            return
        numpy.save(self.folder / "o.npy", numpy.array([{}], dtype=object), allow_pickle=True)
        with self.assertRaises(ValueError):
            pysabath.open_file(self.folder / "o.npy")

    def test_a_library_that_is_missing_is_named(self):
        before = files.importlib
        self.addCleanup(setattr, files, "importlib", before)

        def missing(name):
            raise ImportError(name)

        files.importlib = types.SimpleNamespace(import_module=missing)
        for suffix, package in (("h5", "h5py"), ("nc", "xarray"), ("csv", "pandas"), ("npz", "numpy"), ("yaml", "pyyaml"), ("safetensors", "safetensors")):
            path = self.folder / f"x.{suffix}"
            path.touch()
            with self.assertRaisesRegex(pysabath.SabathError, f"x.{suffix}: opening it needs {package}.*\n.*pip install {package}"):
                pysabath.open_file(path)


class Studies(WithHome):
    def test_values_with_commas_and_empty_ones_are_swept(self):
        self.add_recipe(WORDS)
        texts = ["a,b", "", "c;d", '["e"]', "plain", 'quote"', "ß, 漢"]
        made = pysabath.study("words", sweep={"text": texts}, seeds=[1])
        self.assertEqual([one.parameters["text"] for one in made], texts)
        made = pysabath.study("words", sweep={"layers": [[1, 2], [], [3]], "rate": [0.1, 1e-7]}, seeds="1..1")
        found = sorted((one.parameters["layers"], one.parameters["rate"]) for one in made)
        self.assertEqual(found, sorted((layers, rate) for layers in ([1, 2], [], [3]) for rate in (0.1, 1e-7)))

    def test_wrong_values_are_errors(self):
        self.add_recipe(WORDS)
        for wrong in ("1,2", [], [None], [{"a": 1}]):
            with self.subTest(wrong), self.assertRaises(pysabath.UsageError):
                pysabath.study("words", sweep={"rate": wrong})
        with self.assertRaises(pysabath.UsageError):
            pysabath.study("words", sweep={"rate": ["fast"]})
        with self.assertRaises(pysabath.UsageError):
            pysabath.run("words", set={"rate": None})
        self.assertEqual(len(pysabath.runs()), 0)


class UnderWay(WithHome):
    def test_points_of_a_run_that_is_under_way_and_waiting_for_it(self):
        line = '{{"step": 1, "loss": 0.5}}\\n{{"step": 2, "loss": "NaN", "epoch": 1}}\\n{{"seeds": {{"a": 1}}}}\\n{{"step": 3, "lo'
        script = f"printf '%b' '{line}' >>$SABATH_METRICS; while [ ! -e {self.folder}/go ]; do sleep 0.05; done; echo 'ss\": 0.25}}}}' >>$SABATH_METRICS"
        self.add_recipe({"schema": 1, "name": "slow", "stages": [{"name": "one", "run": ["sh", "-c", script]}]})
        with open(self.folder / "out", "wb") as out, subprocess.Popen([PROGRAM, "run", "slow", "--seed", "1"], stdout=out, stderr=out) as running:
            try:
                run = self.under_way()
                self.assertEqual(run.state, "running")
                self.assertEqual(repr(run.live_points()), "{'one/loss': [(1, 0.5), (2, nan)]}")
                with self.assertRaisesRegex(pysabath.NotFound, "no record"):
                    run.metrics
            finally:
                (self.folder / "go").touch()
            ended = pysabath.wait(run.id)
            running.wait()
        self.assertEqual(ended.state, "ok")
        self.assertEqual(ended.metrics["loss"].points, 3)
        self.assertEqual(ended.live_points()["one/loss"][-1], (3, 0.25))

    def under_way(self):
        for _ in range(600):
            with contextlib.suppress(pysabath.SabathError):
                for run in pysabath.runs():
                    if len(run.live_points().get("one/loss", [])) == 2:
                        return run
            time.sleep(0.05)
        raise AssertionError((self.folder / "out").read_text())


class Hpcfair(WithHome):
    def setUp(self):
        super().setUp()
        self.add_asset(DIGITS, images=idx_of((2, 2, 2), range(8)))
        self.add_asset(MODEL)
        self.add_recipe(RECIPE)

    def test_the_calls_of_the_listing(self):
        listing = FIXTURES / "hpcfair-listing-4.md"
        if not listing.is_file():
            self.skipTest(f"{listing} is missing: skipped")
        sys.modules["hpcfair"] = hpcfair
        self.addCleanup(sys.modules.pop, "hpcfair")
        names = {"DIR": str(self.folder / "logs")}
        answers = []
        rows = [re.findall("`([^`]*)`", line.split("|")[1]) for line in listing.read_text().splitlines() if line.startswith("| `")]
        self.assertGreaterEqual(len(rows), 7)
        for calls in rows:
            if calls[0].startswith("from "):
                exec(calls[0] + ", " + ", ".join(calls[1:]), names)
                continue
            answers.append(eval(calls[0], names))
            names["PATH" if "load_dataset" in calls[0] else "MODEL" if "load(" in calls[0] else "_"] = answers[-1]
        found, model, metadata, path, applied, trained = answers
        self.assertEqual(found, ["mnist_model_us1"])
        self.assertEqual(model.document["title"], "A network for mnist")
        self.assertEqual((metadata["title"], metadata["files"]), ("Handwritten digits", ["images"]))
        self.assertEqual((metadata["supporting_files"], metadata["isTunable"]), (["pre_processing_mnist_0"], True))
        self.assertEqual([one.name for one in pathlib.Path(path).iterdir() if not one.name.startswith(".")], ["images"])
        self.assertEqual(applied["message"], "Successfully processed")
        self.assertIn("echo 4 threads", applied["command"][-1])
        self.assertEqual((pathlib.Path(applied["path"]) / "size").read_text().strip(), "24")
        self.assertEqual(trained.state, "ok")
        self.assertIn("trained with 1", (self.folder / "logs/train/stdout.log").read_text())

    def test_other_calls_of_the_paper(self):
        self.assertIn("mnist_model_us1", hpcfair.hpcfair_model.list_models())
        self.assertIn("mnist", hpcfair.hpcfair_dataset.list_datasets())
        self.assertEqual(hpcfair.hpcfair_dataset.list_supporting_files("mnist"), ["pre_processing_mnist_0"])
        self.assertIn("digits-us1", hpcfair.hpcfair_model.search_workflows("digits-us1"))
        answered = hpcfair.hpcfair_model.run("inference", "mnist_model_us1")
        self.assertEqual([stage["name"] for stage in answered.record["stages"]], ["answer"])
        self.assertEqual(hpcfair.hpcfair_model.run("train", "mnist_model_us1", epochs=3).parameters, {"epochs": 3})

    def test_what_is_wrong_is_an_error(self):
        with self.assertRaisesRegex(pysabath.UsageError, "no task 'prune'\n.*tasks are: train, infer"):
            hpcfair.hpcfair_model.run("prune", "mnist_model_us1")
        with self.assertRaisesRegex(pysabath.NotFound, "no recipe has it"):
            hpcfair.hpcfair_model.run("train", "other")
        with self.assertRaisesRegex(pysabath.NotFound, "no such folder"):
            hpcfair.hpcfair_dataset.apply("mnist", "/nowhere", "pre_processing_mnist_0")
        with self.assertRaisesRegex(pysabath.UsageError, "num_threads"):
            hpcfair.hpcfair_dataset.apply("mnist", str(self.folder), "pre_processing_mnist_0", num_threads="many")
        with self.assertRaises(pysabath.NotFound):
            hpcfair.hpcfair_dataset.apply("mnist", str(self.folder), "other")

    def test_conversions(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs NumPy")
        numpy.save(self.folder / "a.npy", numpy.arange(6.0).reshape(2, 3))
        convert = hpcfair.hpcfair_dataset.convert
        made = convert("npy", "npz", str(self.folder / "a.npy"), str(self.folder / "b.npz"))
        again = convert("npz", "npy", made, str(self.folder / "c.npy"))
        self.assertEqual(numpy.load(again).tolist(), [[0, 1, 2], [3, 4, 5]])
        with self.assertRaisesRegex(pysabath.UsageError, "from npy to onnx"):
            convert("npy", "onnx", str(self.folder / "a.npy"), "x")
        with self.assertRaises(pysabath.NotFound):
            convert("npy", "npz", "/nowhere", "x")


if __name__ == "__main__":
    unittest.main()
