#!/usr/bin/env python3
"""mnist_test.py CODE: drawn digits, the layout of mnist.npz, and every bad input. Needs NumPy alone."""

import support
import unittest

import numpy

import layout
import strokes
from common.class_scores import nearest_neighbour
from common.npz_files import write_npz
from common.staged import find_data
from support import Folder, command


class Generator(unittest.TestCase):
    def test_an_image_is_a_function_of_seed_and_writers_alone(self):
        one, again = strokes.make_images(1, 40, 4, 0), strokes.make_images(1, 40, 4, 0)
        for a, b in zip(one, again):
            numpy.testing.assert_array_equal(a, b)
        self.assertFalse((one[0] == strokes.make_images(2, 40, 4, 0)[0]).all())

    def test_writers_of_other_numbers_have_other_habits(self):
        slants = {round(strokes.writer_of(1, writer)["slant"], 12) for writer in range(70)}
        self.assertEqual(len(slants), 70)

    def test_ink_is_in_the_middle_and_seldom_at_the_border(self):
        images, labels = strokes.make_images(1, 400, 20, 0)
        self.assertEqual(images.dtype, numpy.uint8)
        ink = images.astype(float)
        at = numpy.arange(28)
        for axis in (1, 2):
            centre = (ink.sum(axis=3 - axis) * at).sum(axis=1) / ink.sum(axis=(1, 2))
            self.assertLess(numpy.abs(centre - 13.5).max(), 4)
        border = ink[:, [0, -1], :].sum() + ink[:, :, [0, -1]].sum()
        self.assertLess(border / ink.sum(), 0.01)
        self.assertTrue(0.05 < (ink > 127).mean() < 0.3)  # MNIST: a tenth to a fifth
        self.assertEqual(set(labels.tolist()), set(range(10)))
        self.assertLess(numpy.bincount(labels).max(), 80)

    def test_ink_lies_within_the_pen_of_the_path(self):
        path = numpy.array([[10.0, 14.0], [10.5, 14.0], [11.0, 14.0]])
        image = strokes.draw(path, 1.0)
        self.assertEqual(image[14, 10], 255)
        self.assertEqual(image[14, 20], 0)
        self.assertEqual(image[12, 10], 0)
        self.assertEqual(image[13, 10], 128)  # the middle of the soft edge

    def test_labels_tell_the_digit_and_shuffled_ones_do_not(self):
        images, labels = strokes.make_images(1, 600, 20, 0)
        held, truth = strokes.make_images(1, 200, 5, 20)
        self.assertGreater((nearest_neighbour(images, labels, held) == truth).mean(), 0.6)
        others = numpy.random.default_rng(1).permutation(labels)
        self.assertLess((nearest_neighbour(images, others, held) == truth).mean(), 0.25)


class Layout(Folder):
    def write(self, **changes):
        arrays = {
            "x_train": numpy.zeros((5, 28, 28), numpy.uint8),
            "y_train": numpy.arange(5, dtype=numpy.uint8),
            "x_test": numpy.zeros((2, 28, 28), numpy.uint8),
            "y_test": numpy.array([9, 0], numpy.uint8),
        }
        arrays.update(changes)
        write_npz(self.folder / "mnist.npz", {name: values for name, values in arrays.items() if values is not None})

    def test_generated_bytes_repeat_and_numpy_reads_them(self):
        for name in ("a.npz", "b.npz"):
            done = command("generate.py", "--out", self.folder / name, "--train", 60, "--test", 10, "--writers", 6)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())
        with numpy.load(self.folder / "a.npz") as file:
            self.assertEqual({name: file[name].shape for name in file}, {
                "x_train": (60, 28, 28), "y_train": (60,), "x_test": (10, 28, 28), "y_test": (10,)})

    def test_a_file_that_numpy_wrote_is_staged_in(self):
        images = numpy.random.default_rng(1).integers(0, 256, (5, 28, 28)).astype(numpy.uint8)
        numpy.savez(self.folder / "mnist.npz", x_train=images, y_train=numpy.arange(5, dtype=numpy.uint8), x_test=images, y_test=numpy.arange(5))
        done = self.stage_in()
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "outputs").mkdir()
        (self.folder / "staged").rename(self.folder / "outputs" / "stage-in")
        found = find_data(self.folder / "outputs", "mnist.npz")
        numpy.testing.assert_array_equal(layout.read_digits(found)[0], images)

    def test_other_shapes_types_and_labels_are_refused(self):
        for changes, expected in (
            ({"x_train": numpy.zeros((5, 32, 32), numpy.uint8)}, "array 'x_train' is uint8 of shape (5, 32, 32); expected uint8 of shape (n, 28, 28)"),
            ({"x_test": numpy.zeros((2, 28, 28), numpy.float32)}, "array 'x_test' is float32 of shape (2, 28, 28); expected uint8"),
            ({"x_test": numpy.zeros((2, 28, 28), numpy.uint16)}, "array 'x_test' is uint16; expected uint8"),
            ({"y_train": numpy.zeros(4, numpy.uint8)}, "array 'y_train' is uint8 of shape (4,); expected 5 integers"),
            ({"y_test": numpy.array([10, 0])}, "array 'y_test' has labels from 0 to 10; expected 0 to 9"),
            ({"y_test": None}, "array 'y_test' is missing; it has x_test, x_train, y_train"),
        ):
            self.write(**changes)
            self.refused(self.stage_in(), "mnist.npz: " + expected)

    def test_cut_and_foreign_files_are_refused(self):
        self.write(x_train=numpy.random.default_rng(1).integers(0, 256, (5, 28, 28)).astype(numpy.uint8))
        path = self.folder / "mnist.npz"
        content = path.read_bytes()
        path.write_bytes(content[:-30])
        self.refused(self.stage_in(), "mnist.npz: is not a whole NumPy archive")
        path.write_bytes(b"digits")
        self.refused(self.stage_in(), "mnist.npz: is not a whole NumPy archive")
        damaged = bytearray(content)
        damaged[2000] ^= 255  # within the first array
        path.write_bytes(bytes(damaged))
        self.refused(self.stage_in(), "mnist.npz: array 'x_train' cannot be read")
        path.unlink()
        self.refused(self.stage_in(), "mnist.npz: does not exist", "sabath fetch mnist-npz")

    def test_a_framework_that_is_not_there(self):
        self.write()
        self.no_framework(self.folder)


if __name__ == "__main__":
    unittest.main()
