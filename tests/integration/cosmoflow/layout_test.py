#!/usr/bin/env python3
"""layout_test.py CODE: files in the layouts of CosmoUniverse, both ways with TensorFlow and h5py, and every bad input; needs the environment."""

import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

import h5py
import numpy

sys.dont_write_bytecode = True
CODE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(CODE))

import layout
from common.report import InputError
from common.tfrecord import compress, encode_record
from universe import make_universe, unit_of


def command(script, *arguments, **variables):
    return subprocess.run(
        [sys.executable, "-B", CODE / script, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **variables}
    )


def sample(edge=16, number=0):
    counts, physical = make_universe(1, number, edge, 4.0)
    return counts, unit_of(physical).astype(numpy.float32)


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def write_samples(self, content, count=2, name="univ_ics_2019-03_a1_{:03}.tfrecord"):
        """A folder as the small archive of CosmoUniverse has it."""
        for part in layout.PARTS:
            target = self.folder / "cosmoUniverse" / part
            target.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                (target / name.format(number)).write_bytes(content)

    def refused(self, content, *expected, name="univ_{:03}.tfrecord", edge=16):
        self.write_samples(content, name=name)
        done = command("stage_in.py", "--folder", self.folder / "cosmoUniverse", "--out", self.folder / "samples.json", "--edge", edge)
        self.assertEqual(done.returncode, 2, done.stderr)
        for text in (name.format(0), *expected):
            self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class Both(Folder):
    def test_tensorflow_reads_what_is_written_here(self):
        import tensorflow

        cube, unit = sample()
        path = self.folder / "a.tfrecord"
        path.write_bytes(layout.encode_sample("tfrecord", cube, unit))
        records = list(tensorflow.data.TFRecordDataset(str(path), compression_type="GZIP").as_numpy_iterator())
        self.assertEqual(len(records), 1)
        example = tensorflow.io.parse_single_example(
            records[0], {"x": tensorflow.io.FixedLenFeature([], tensorflow.string), "y": tensorflow.io.FixedLenFeature([4], tensorflow.float32)}
        )
        x = tensorflow.reshape(tensorflow.io.decode_raw(example["x"], tensorflow.int16), (16, 16, 16, 4)).numpy()
        self.assertTrue((x == cube).all())
        self.assertTrue((example["y"].numpy() == unit).all())

    def test_what_tensorflow_writes_is_read_here(self):
        import tensorflow

        cube, unit = sample()
        feature = tensorflow.train.Feature
        example = tensorflow.train.Example(
            features=tensorflow.train.Features(
                feature={
                    "x": feature(bytes_list=tensorflow.train.BytesList(value=[cube.tobytes()])),
                    "y": feature(float_list=tensorflow.train.FloatList(value=unit)),
                }
            )
        )
        for compression in (None, "GZIP"):
            path = self.folder / f"{compression}.tfrecord"
            with tensorflow.io.TFRecordWriter(str(path), compression) as writer:
                writer.write(example.SerializeToString())
            x, y = layout.decode_sample(path, path.read_bytes())
            self.assertTrue((x == cube).all())
            self.assertTrue((y == unit).all())

    def test_equal_samples_give_equal_bytes_without_a_time(self):
        cube, unit = sample()
        a, b = (layout.encode_sample("tfrecord", cube, unit) for _ in range(2))
        self.assertEqual(a, b)
        self.assertEqual(a[4:8], bytes(4))
        self.assertEqual(*(layout.encode_sample("hdf5", cube, unit) for _ in range(2)))

    def test_a_raw_universe_has_the_names_of_the_real_ones(self):
        counts, physical = make_universe(1, 0, 16, 4.0)
        with h5py.File(io.BytesIO(layout.encode_universe(1, 0, counts, physical)), "r") as file:
            self.assertEqual(sorted(file), ["full", "namePar", "physPar", "redshifts", "unitPar"])
            self.assertEqual(sorted(file.attrs), ["dataset_tag", "seed9", "universe_tag"])
            self.assertEqual(file["full"].dtype, numpy.int16)
            self.assertEqual(file["full"].shape, (16, 16, 16, 4))

    def test_cubes_are_cut_with_x_slowest_as_upstream_does(self):
        counts, physical = make_universe(1, 0, 32, 4.0)
        (self.folder / "train").mkdir()
        (self.folder / "train" / "u.hdf5").write_bytes(layout.encode_universe(1, 0, counts, physical))
        for format_name in ("tfrecord", "hdf5"):
            target = self.folder / f"{format_name}.tar"
            done = command("prepare.py", "--universes", self.folder / "train", "--out", target, "--cuts", 2, "--format", format_name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(layout.Archive(target).names, [])  # the folder itself is not 'train/...'
            done = command("prepare.py", "--universes", self.folder, "--out", target, "--cuts", 2, "--format", format_name)
            self.assertEqual(done.returncode, 0, done.stderr)
            archive = layout.Archive(target)
            self.assertEqual(archive.names, [f"train/u_{number:03}.{format_name}" for number in range(8)])
            cube, unit = layout.decode_sample(archive.names[1], archive.read(archive.names[1]))
            self.assertTrue((cube == counts[:16, :16, 16:]).all())
            cube, _ = layout.decode_sample(archive.names[4], archive.read(archive.names[4]))
            self.assertTrue((cube == counts[16:, :16, :16]).all())
            self.assertTrue(numpy.allclose(unit, unit_of(physical), atol=1e-6))

    def test_samples_beyond_the_limit_of_memory_are_read_when_needed(self):
        cube, unit = sample()
        self.write_samples(layout.encode_sample("tfrecord", cube, unit), count=5)
        archive = layout.Archive(self.folder)
        kept = layout.Samples(archive, "train")
        layout.Samples.MOST_IN_MEMORY, most = 0, layout.Samples.MOST_IN_MEMORY
        self.addCleanup(setattr, layout.Samples, "MOST_IN_MEMORY", most)
        read = layout.Samples(archive, "train")
        for a, b in zip(kept.take([3, 1]), read.take([3, 1])):
            self.assertTrue((a == b).all())
        self.assertEqual(len(layout.Samples(archive, "train", 3)), 3)


class StageIn(Folder):
    def test_small_files_of_the_real_layout_are_found_and_counted(self):
        cube, unit = sample()
        for content in (layout.encode_sample("tfrecord", cube, unit), encode_record({"x": cube.tobytes(), "y": unit})):
            self.write_samples(content, count=3)
            out = self.folder / "outputs" / "stage-in" / "samples.json"
            out.parent.mkdir(parents=True, exist_ok=True)
            done = command("stage_in.py", "--folder", self.folder, "--out", out, "--edge", 16)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("3 samples to train on, 3 to validate", done.stdout)
            self.assertEqual(json.loads(out.read_text())["train"], 3)
            self.assertEqual(len(layout.Samples(layout.find_samples(self.folder / "outputs"), "train")), 3)

    def test_an_archive_is_read_as_a_folder_is(self):
        cube, unit = sample()
        self.write_samples(layout.encode_sample("hdf5", cube, unit), name="u_{:03}.hdf5")
        path = self.folder / "a.tgz"
        with tarfile.open(path, "w:gz") as tar:
            tar.add(self.folder / "cosmoUniverse", "./cosmoUniverse")
        done = command("stage_in.py", "--folder", path, "--out", self.folder / "s.json", "--edge", 16)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_folder(self):
        done = command("stage_in.py", "--folder", "", "--out", self.folder / "s.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--set folder=FOLDER", done.stderr)
        done = command("stage_in.py", "--folder", self.folder / "none", "--out", self.folder / "s.json")
        self.assertIn("none: does not exist", done.stderr)
        done = command("stage_in.py", "--folder", self.folder, "--out", self.folder / "s.json")
        self.assertIn("has no samples 'train/*.tfrecord'", done.stderr)

    def test_another_shape(self):
        cube, unit = sample()
        self.refused(encode_record({"x": cube.tobytes()[:-8], "y": unit}), "feature 'x' has 32760 bytes; expected n^3 x 4 counts of int16")
        self.refused(encode_record({"x": cube.tobytes(), "y": unit}), "array 'x' has 16 cells a side; expected 128", edge=128)
        self.refused(encode_record({"x": cube.tobytes(), "y": unit[:3]}), "array 'y' has shape (3,); expected (4,)")
        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            file["x"], file["y"] = cube[..., :3], unit
        self.refused(buffer.getvalue(), "array 'x' has shape (16, 16, 16, 3); expected (n, n, n, 4)", name="u_{:03}.hdf5")

    def test_another_type(self):
        cube, unit = sample()
        self.refused(encode_record({"x": cube.astype(numpy.float32).tobytes(), "y": unit}), "feature 'x' has 65536 bytes", "int16 (2 bytes each)")
        self.refused(encode_record({"x": unit, "y": unit}), "feature 'x' is missing or of another type; expected x as bytes of int16")
        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            file["x"], file["y"] = numpy.log1p(cube), unit
        self.refused(buffer.getvalue(), "dataset 'x' is float", "expected integers of 4 dimensions", name="u_{:03}.hdf5")
        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            file["full"], file["y"] = cube, unit
        self.refused(buffer.getvalue(), "dataset 'x' is missing; it has full, y", name="a_{:03}.hdf5")

    def test_another_unit(self):
        cube, unit = sample()
        self.refused(encode_record({"x": cube.tobytes(), "y": [0.3, 0.8, 0.96, 70]}), "expected 'unitPar', each within -1 and 1", "'physPar'")
        self.refused(encode_record({"x": cube.tobytes(), "y": [0, 0, numpy.nan, 0]}), "expected finite numbers")
        self.refused(encode_record({"x": (cube - 1).tobytes(), "y": unit}), "array 'x' has a count of -1; expected counts of particles")

    def test_a_file_that_is_cut_short(self):
        whole = encode_record({"x": sample()[0].tobytes(), "y": sample()[1]})
        self.refused(whole[:-100], "is cut short: the record at byte 0 declares")
        self.refused(whole[:7], "is cut short: a header of 12 bytes")
        self.refused(compress(whole)[:-50], "is cut short or damaged (gzip")
        self.refused(whole[:500] + bytes([whole[500] ^ 1]) + whole[501:], "is damaged: wrong checksum of the record")
        self.refused(b"x" * 500, "is not a TFRecord file")
        self.refused(whole * 2, "has 2 records; expected one sample a file")
        self.refused(layout.encode_sample("hdf5", *sample())[:3000], "is not a whole HDF5 file", name="u_{:03}.hdf5")

    def test_an_archive_that_is_cut_short(self):
        self.write_samples(layout.encode_sample("tfrecord", *sample()))
        path = self.folder / "a.tar"
        with tarfile.open(path, "w") as tar:
            tar.add(self.folder / "cosmoUniverse", "cosmoUniverse")
        path.write_bytes(path.read_bytes()[:1000])
        done = command("stage_in.py", "--folder", path, "--out", self.folder / "s.json", "--edge", 16)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a.tar: ", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


class Prepare(Folder):
    def refused_universe(self, expected, cuts=1, **arrays):
        (self.folder / "train").mkdir(exist_ok=True)
        with h5py.File(self.folder / "train" / "u.hdf5", "w") as file:
            for name, values in arrays.items():
                file[name] = values
        done = command("prepare.py", "--universes", self.folder, "--out", self.folder / "s.tar", "--cuts", cuts)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("train/u.hdf5", done.stderr)
        self.assertIn(expected, done.stderr)

    def test_raw_universes_of_another_layout(self):
        cube, unit = sample()
        self.refused_universe("dataset 'unitPar' is missing; it has full", full=cube)
        self.refused_universe("dataset 'full' is float64", full=cube.astype(float), unitPar=unit)
        self.refused_universe("expected integers of 4 dimensions", full=cube[..., 0], unitPar=unit)
        self.refused_universe("which 3 cubes do not divide", cuts=3, full=cube, unitPar=unit)


class Train(Folder):
    def write_two_parts(self, **changes):
        for part in layout.PARTS:
            (self.folder / "data" / part).mkdir(parents=True, exist_ok=True)
            for number in range(12):
                content = layout.encode_sample("tfrecord", *sample(8, number))
                (self.folder / "data" / part / f"u_{number:03}.tfrecord").write_bytes(content)

    def train(self, *more, **variables):
        metrics = self.folder / "metrics.jsonl"
        return command(
            "train.py", "--data", self.folder / "data", "--output", self.folder, "--batch", 4, "--epochs", 1, *more, SABATH_METRICS=str(metrics), **variables
        )

    def test_nan_stops_the_training_and_says_at_which_step(self):
        self.write_two_parts()
        done = self.train("--optimizer", "sgd", "--learning-rate", "1e38")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"step [2-9] of epoch 1: the loss is (nan|inf)")
        self.assertFalse((self.folder / "weights.h5").exists())

    def test_a_framework_that_cannot_be_imported_is_named_with_what_to_install(self):
        self.write_two_parts()
        (self.folder / "shadow").mkdir()
        (self.folder / "shadow" / "tensorflow.py").write_text("raise ImportError('no such library', name='tensorflow')\n")
        done = self.train(PYTHONPATH=str(self.folder / "shadow"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("tensorflow: cannot be imported: no such library", done.stderr)
        self.assertIn("pip install 'tensorflow-cpu==2.21.*'", done.stderr)

    def test_the_deep_network_refuses_small_cubes(self):
        self.write_two_parts()
        done = self.train("--model", "mlperf")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the samples have 8 cells a side; expected 32 or more", done.stderr)

    def test_samples_of_two_sizes(self):
        self.write_two_parts()
        (self.folder / "data" / "train" / "u_005.tfrecord").write_bytes(layout.encode_sample("tfrecord", *sample(16)))
        done = self.train()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("u_005.tfrecord: array 'x' has 16 cells a side; the first sample has 8", done.stderr)


class Networks(unittest.TestCase):
    def test_the_network_of_mlperf_has_the_number_of_parameters_of_upstream(self):
        import keras
        from common.cnn3d import mlperf_cnn, small_cnn

        self.assertEqual(mlperf_cnn(keras, (128, 128, 128, 4), 4).count_params(), 8_907_556)
        self.assertEqual(small_cnn(keras, (16, 16, 16, 4), 4).count_params(), 15_100)


if __name__ == "__main__":
    unittest.main()
