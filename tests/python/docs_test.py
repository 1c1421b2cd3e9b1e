#!/usr/bin/env python3
"""docs_test.py PROGRAM: the examples of docs/python.md and src/python/README.md run, in their order."""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/python"))
sys.dont_write_bytecode = True

import pysabath  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
LIBRARIES = {"to_frame": "pandas", ".values": "h5py", ".step,": "h5py"}
STAGE = """echo '{{"step": 1, "loss": 0.5}}' >>$SABATH_METRICS
echo '{{"step": 2, "loss": 0.{param.hidden}}}' >>$SABATH_METRICS
echo '{{"accuracy": 0.9}}' >{output}/scores.json"""
RECIPE = {
    "schema": 1,
    "name": "NAME",
    "parameters": {"hidden": {"type": "int", "default": 16}},
    "stages": [{"name": "train", "run": ["sh", "-c", STAGE], "outputs": ["scores.json"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower", "tolerance": {"relative": 1e-6}}},
}
WORDS = {
    "schema": 1,
    "kind": "dataset",
    "name": "words",
    "scripts": [{"name": "count", "command": ["sh", "-c", "head -n {arg.lines} {asset}/words.txt >{output}/head"], "outputs": ["head"]}],
}


def examples(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


def has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def lines_that_run(example):
    """The lines of an example but those whose library is not here."""
    missing = [sign for sign, library in LIBRARIES.items() if not has(library)]
    return "\n".join(line for line in example.splitlines() if not any(sign in line for sign in missing) and not ("frame[" in line and not has("pandas")))


@unittest.skipUnless(PROGRAM, "needs the program")
class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        home = folder / "home"
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(SABATH_HOME=str(home), SABATH_PROGRAM=PROGRAM, SABATH_METRICS=str(folder / "m.jsonl"))
        for name in ("digits", "supercell"):
            (home / "recipes" / name).mkdir(parents=True)
            (home / "recipes" / name / "recipe.json").write_text(json.dumps({**RECIPE, "name": name}))
        (home / "assets").mkdir()
        (folder / "words.txt").write_text("one\ntwo\n")
        document = {**WORDS, "files": [{"path": "words.txt", "sources": [(folder / "words.txt").as_uri()]}]}
        (home / "assets/words.json").write_text(json.dumps(document))
        for name in ("digits", "supercell"):
            pysabath.run(name, seed=1)
        self.folder = folder

    def run_all(self, page):
        names = {}
        found = examples(page)
        self.assertTrue(found)
        for example in found:
            with self.subTest(example):
                exec(compile(lines_that_run(example), page, "exec"), names)
        return names

    def test_the_page(self):
        names = self.run_all("docs/python.md")
        self.assertEqual(names["scores"], {"accuracy": 0.9})
        self.assertEqual([one.parameters["hidden"] for one in names["points"]], [8, 8, 16, 16])
        self.assertEqual(names["verdict"].result, "FAIL")
        self.assertEqual(names["text"], "one\ntwo\n")
        self.assertEqual((pathlib.Path(names["done"]["path"]) / "head").read_text(), "one\n")
        if has("pandas"):
            self.assertEqual(names["frame"]["metrics.train/loss"].tolist(), [0.16])
        lines = [json.loads(line) for line in (self.folder / "m.jsonl").read_text().splitlines()]
        self.assertEqual(lines[0], {"step": 0, "epoch": 0, "loss": 0.5, "accuracy": 0.9})
        self.assertEqual(lines[3:], [{"seeds": {"numpy": 7, "torch": 7}}, {"epoch": 0, "sample_ids": [3, 1, 2]}])

    def test_the_page_of_the_package(self):
        names = self.run_all("src/python/README.md")
        self.assertIn(names["verdict"].result, ("PASS", "FAIL", "NOT-COMPARABLE", "INCONCLUSIVE"))

    def test_calls_on_the_page_are_there(self):
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        named = set(re.findall(r"pysabath\.([a-z_]+)", text)) - {"hpcfair"}
        self.assertGreater(len(named), 10)
        for name in named:
            self.assertTrue(hasattr(pysabath, name), name)


if __name__ == "__main__":
    unittest.main()
