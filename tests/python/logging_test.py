#!/usr/bin/env python3
"""logging_test.py: what the Python package writes to $SABATH_METRICS, from threads, forks, ranks and callbacks of frameworks."""

import contextlib
import fractions
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/python"))
sys.dont_write_bytecode = True

import pysabath  # noqa: E402
from pysabath import logging as logging_module, mlflow_like, wandb_like  # noqa: E402

OF_RANKS = ("SABATH_RANK", "SABATH_METRICS_DIR", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


class Tensor:
    """What PyTorch and TensorFlow give, as far as it is used: `item` raises for more than one element."""

    def __init__(self, *values):
        self.values = values

    def item(self):
        if len(self.values) != 1:
            raise RuntimeError(f"a Tensor with {len(self.values)} elements cannot be converted to Scalar")
        return self.values[0]

    def numel(self):
        return len(self.values)


class WithFile(unittest.TestCase):
    """Each test has a file of metrics in an empty folder."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.file = self.folder / "m.jsonl"
        self.set_variables(SABATH_METRICS=str(self.file), **dict.fromkeys(OF_RANKS))
        logging_module._is_reported = False

    def set_variables(self, **changed):
        before = {name: os.environ.get(name) for name in changed}
        for name, value in changed.items():
            self.set_one(name, value)
        self.addCleanup(lambda: [self.set_one(name, value) for name, value in before.items()])

    @staticmethod
    def set_one(name, value):
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        logging_module._chosen_by = logging_module._nothing  # variables of ranks are not looked at for each line

    def lines(self, path=None):
        return [json.loads(line) for line in (path or self.file).read_text(encoding="utf-8").splitlines()]


class Numbers(WithFile):
    def test_outside_of_a_run_nothing_is_written(self):
        self.assertTrue(pysabath.is_in_run())
        self.set_variables(SABATH_METRICS=None)
        self.assertFalse(pysabath.is_in_run())
        pysabath.log({"loss": 1.0}, step=1)
        pysabath.log_seeds(numpy=1)
        pysabath.log_sample_ids([1])
        pysabath.log_sample_order("x")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_numbers_are_written_as_they_are(self):
        pysabath.log({"a": 0.1, "b": 2**70, "c": math.nan, "d": -math.inf, 'größe "x"': -0.0}, step=3, epoch=1)
        pysabath.log({"a": 1}, time_s=0.5)
        pysabath.log({"a": fractions.Fraction(1, 4)}, step=4.0)
        pysabath.log({})
        first, *others = self.lines()
        self.assertEqual(first, {"step": 3, "epoch": 1, "a": 0.1, "b": 2**70, "c": "NaN", "d": "-Infinity", 'größe "x"': -0.0})
        self.assertEqual(math.copysign(1, first['größe "x"']), -1)
        self.assertEqual(others, [{"time": 0.5, "a": 1}, {"step": 4, "a": 0.25}])

    def test_lines_are_those_of_a_json_library(self):
        """Random names and numbers, against the standard library."""
        rng = random.Random(4)
        expected = []
        for _ in range(300):
            names = {"".join(rng.choice('aß"\\/漢🚀 .%') for _ in range(rng.randrange(1, 9))) for _ in range(rng.randrange(1, 6))}
            values = {name: rng.choice([rng.uniform(-1, 1), rng.getrandbits(80), -0.0, 5e-324, rng.uniform(0, 1e300)]) for name in names}
            pysabath.log(values, step=7)
            expected.append(json.dumps({"step": 7, **values}, ensure_ascii=False))
        self.assertEqual(self.file.read_text(encoding="utf-8").splitlines(), expected)

    def test_what_is_not_a_number_is_refused(self):
        for value in ("0.5", None, [1, 2], {"a": 1}, True, 1j, object(), b"1", Tensor(1, 2), Tensor(), Tensor("x")):
            with self.subTest(value), self.assertRaisesRegex(TypeError, "loss"):
                pysabath.log({"loss": value})
        with self.assertRaisesRegex(pysabath.UsageError, "mapping"):
            pysabath.log(3)
        for step in (0.5, math.nan, math.inf):
            with self.assertRaisesRegex(pysabath.UsageError, "step=.*whole"):
                pysabath.log({"a": 1}, step=step)
        self.assertFalse(self.file.exists())

    def test_wrong_names_are_refused(self):
        for wrong in ("step", "epoch", "time", "sample_ids", "", 3, None, "a\nb", "\x7f", "ß" * 101, "\ud800"):
            with self.subTest(wrong), self.assertRaises(pysabath.UsageError):
                pysabath.log({wrong: 1})
        for wrong in ("", "a\nb"):
            with self.assertRaises(pysabath.UsageError):
                pysabath.log_sample_ids([wrong])
            with self.assertRaises(pysabath.UsageError):
                pysabath.log_sample_order(wrong)
        self.assertFalse(self.file.exists())

    def test_tensors_of_one_element(self):
        pysabath.log({"a": Tensor(0.5), "b": Tensor(3)}, step=Tensor(2))
        self.assertEqual(self.lines(), [{"step": 2, "a": 0.5, "b": 3}])

    def test_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        pysabath.log({"a": numpy.float32(0.1), "b": numpy.int64(2**62), "c": numpy.array([1.5]), "d": numpy.float64("nan")})
        pysabath.log({"a": numpy.longdouble(0.5), "b": numpy.float16(0.5)}, step=numpy.int32(1))
        self.assertEqual(self.lines(), [{"a": float(numpy.float32(0.1)), "b": 2**62, "c": 1.5, "d": "NaN"}, {"step": 1, "a": 0.5, "b": 0.5}])
        for wrong in (numpy.zeros(2), numpy.bool_(True), numpy.str_("1"), numpy.complex128(1)):
            with self.assertRaisesRegex(TypeError, "loss"):
                pysabath.log({"loss": wrong})

    def test_seeds_and_orders(self):
        pysabath.log_seeds(numpy=7, torch=-(2**63))
        pysabath.log_sample_ids([3, "ß"], epoch=0)
        pysabath.log_sample_order("sha256:00")
        self.assertEqual(self.lines(), [{"seeds": {"numpy": 7, "torch": -(2**63)}}, {"epoch": 0, "sample_ids": [3, "ß"]}, {"sample_order": "sha256:00"}])

    def test_long_reports_are_lines_that_can_be_read(self):
        pysabath.log_sample_ids(range(300_000), epoch=2)
        pysabath.log({f"name{i}": i for i in range(20_000)}, step=5)
        self.assertLess(max(map(len, self.file.read_text().splitlines())), 2**17)
        found = self.lines()
        self.assertEqual([one for line in found for one in line.get("sample_ids", [])], list(range(300_000)))
        self.assertTrue(all(line.get("epoch") == 2 or line.get("step") == 5 for line in found))
        self.assertEqual(sum(len(line) - 1 for line in found if "step" in line), 20_000)


class Processes(WithFile):
    def test_64_threads_and_forked_processes(self):
        threads = [threading.Thread(target=lambda k=k: [pysabath.log({"v": k}, step=n) for n in range(50)]) for k in range(64)]
        for one in threads:
            one.start()
        for _ in range(4):
            child = os.fork()
            if child == 0:
                pysabath.log({"v": -1})
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        for one in threads:
            one.join()
        found = sorted((line["v"], line.get("step")) for line in self.lines() if line["v"] >= 0)
        self.assertEqual(found, [(k, n) for k in range(64) for n in range(50)])
        self.assertEqual(len(self.lines()), 64 * 50 + 4)

    def test_a_process_that_is_killed_leaves_its_lines(self):
        code = "import os, pysabath\npysabath.log({'a': 1})\nos.kill(os.getpid(), 9)"
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT / "src/python")})
        self.assertEqual((done.returncode, self.lines()), (-9, [{"a": 1}]))

    def test_a_full_disk_is_reported_once_and_ends_nothing(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("needs /dev/full")
        for path, reason in (("/dev/full", "No space left on device"), ("/nowhere/m", "No such file or directory")):
            logging_module._is_reported = False
            self.set_variables(SABATH_METRICS=path)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                for step in range(3):
                    pysabath.log({"a": 1}, step=step)
            self.assertEqual(said.getvalue().count("\n"), 1)
            self.assertIn(f"{path}: a line of metrics is lost: {reason}", said.getvalue())

    def test_a_line_that_was_cut_short_does_not_damage_the_next_one(self):
        code = """if True:
            import resource, signal, pysabath
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            pysabath.log({"before": 1})
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY))
            pysabath.log({"cut": 1})
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            pysabath.log({"after": 1})"""
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT / "src/python")}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a line of metrics is lost", done.stderr)
        before, _, after = self.file.read_text().splitlines()
        self.assertEqual((json.loads(before), json.loads(after)), ({"before": 1}, {"after": 1}))

    def test_ranks_have_their_own_files(self):
        rank = {"SABATH_METRICS_DIR": str(self.folder), "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}
        self.set_variables(**rank)
        pysabath.log({"a": 1})
        self.assertEqual(self.lines(self.folder / "metrics-3.jsonl"), [{"a": 1}])
        for changed in ({"SABATH_RANK": "3"}, {"SABATH_RANK": None, "OMPI_COMM_WORLD_SIZE": "1"},
                        {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "../x"}):
            self.set_variables(**changed)
            pysabath.log({"a": 2})
        self.assertEqual(len(self.lines()), 3)


class OtherTrackers(WithFile):
    def test_calls_of_wandb(self):
        with wandb_like.init(project="p", config={"lr": 0.1}) as run:
            self.assertEqual(run.config.lr, 0.1)
            self.assertEqual(wandb_like.config["lr"], 0.1)
            wandb_like.define_metric("loss", summary="min")
            wandb_like.log({"loss": 1.0, "image": wandb_like.Image(object()), "text": "x", "val": {"acc": Tensor(0.5)}, "done": True})
            wandb_like.log({"part": 1}, commit=False)
            wandb_like.log({"loss": 0.5})
            wandb_like.log({"loss": 0.25}, step=7)
            self.assertEqual(run.summary["loss"], 0.25)
        wandb_like.finish()
        expected = [{"step": 0, "loss": 1.0, "val/acc": 0.5}, {"step": 1, "part": 1}, {"step": 1, "loss": 0.5}, {"step": 7, "loss": 0.25}]
        self.assertEqual(self.lines(), expected)

    def test_calls_of_mlflow(self):
        mlflow_like.set_experiment("e")
        with mlflow_like.start_run(run_name="r"):
            mlflow_like.log_params({"lr": 0.1})
            mlflow_like.log_metric("loss", 0.25, step=8)
            mlflow_like.log_metrics({"a": 1, "b": 2})
            mlflow_like.log_artifact("x.png")
        self.assertEqual(self.lines(), [{"step": 8, "loss": 0.25}, {"a": 1, "b": 2}])
        with self.assertRaises(TypeError):
            mlflow_like.log_metric("loss", "0.25")


class Callbacks(WithFile):
    """Stand-ins have the documented interface. tests/soak/callbacks.sh has the frameworks themselves."""

    def stand_in(self, **modules):
        for name, module in modules.items():
            name = name.replace("__", ".")
            before = sys.modules.get(name)
            sys.modules[name] = module
            self.addCleanup(lambda name=name, before=before: sys.modules.pop(name, None) if before is None else sys.modules.update({name: before}))

    def test_keras(self):
        self.stand_in(keras=types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=object)))
        callback = pysabath.callbacks.keras(each_batch=True)
        for epoch in range(2):
            callback.on_epoch_begin(epoch)
            for batch in range(2):
                callback.on_train_batch_end(batch, {"loss": Tensor(0.5)})
            callback.on_epoch_end(epoch, {"loss": 0.5, "val_loss": 0.25, "learning_rate": Tensor(1e-3), "note": "x"})
        found = self.lines()
        self.assertEqual([line["step"] for line in found], [1, 2, 2, 3, 4, 4])
        self.assertEqual(found[0], {"step": 1, "batch/loss": 0.5})
        last = found[-1]
        self.assertGreaterEqual(last.pop("epoch_time"), 0)
        self.assertEqual(last, {"step": 4, "epoch": 2, "loss": 0.5, "val_loss": 0.25, "learning_rate": 1e-3})

    def test_lightning(self):
        loggers = types.SimpleNamespace(Logger=object)
        self.stand_in(lightning__pytorch__loggers=loggers, lightning__pytorch__utilities=types.SimpleNamespace(rank_zero_only=lambda call: call))
        self.stand_in(lightning__pytorch=types.SimpleNamespace(), lightning=types.SimpleNamespace())
        logger = pysabath.callbacks.lightning()
        self.assertEqual((logger.name, logger.version), ("sabath", ""))
        logger.log_hyperparams({"lr": 0.1})
        logger.log_metrics({"loss": Tensor(0.5), "epoch": 1.0}, step=12)
        logger.log_metrics({"loss": 0.25, "epoch": 1.5})
        self.assertEqual(self.lines(), [{"step": 12, "epoch": 1, "loss": 0.5}, {"loss": 0.25}])

    def test_transformers(self):
        self.stand_in(transformers=types.SimpleNamespace(TrainerCallback=object))
        callback = pysabath.callbacks.transformers()
        state = types.SimpleNamespace(is_world_process_zero=True, global_step=10)
        callback.on_log(None, state, None, logs={"loss": 0.5, "grad_norm": Tensor(2.0), "epoch": 0.4}, model=object())
        callback.on_log(None, state, None, logs={"eval_loss": 0.25, "epoch": 1.0})
        state.is_world_process_zero = False
        callback.on_log(None, state, None, logs={"loss": 9.0})
        self.assertEqual(self.lines(), [{"step": 10, "loss": 0.5, "grad_norm": 2.0}, {"step": 10, "epoch": 1, "eval_loss": 0.25}])

    def test_a_framework_that_is_missing_is_named(self):
        names = ("keras", "tensorflow.keras", "lightning.pytorch.loggers", "pytorch_lightning.loggers", "transformers")
        self.stand_in(**{name.replace(".", "__"): None for name in names})  # None: an import raises ImportError
        for make, name in ((pysabath.callbacks.keras, "keras"), (pysabath.callbacks.lightning, "lightning"), (pysabath.callbacks.transformers, "transformers")):
            with self.assertRaisesRegex(pysabath.SabathError, f"needs {name}.*\n.*pip install {name}"):
                make()


if __name__ == "__main__":
    unittest.main()
