#!/usr/bin/env python3
"""imdb_test.py CODE: made-up reviews, the layout of imdb.npz with its pickles, and every bad input. Needs NumPy alone."""

import support
import unittest

import numpy

import layout
import reviews
from common.npz_files import write_npz
from support import Folder, command


def objects(*entries):
    values = numpy.empty(len(entries), object)
    values[:] = entries
    return values


class Hostile:
    """A pickle that calls a program when it is read."""

    def __reduce__(self):
        import os

        return os.system, ("touch hostile",)


class Generator(unittest.TestCase):
    def test_the_label_follows_from_the_words(self):
        vocabulary = reviews.vocabulary_of(1, 600)
        found, labels = reviews.make_reviews(1, 0, 500, 600, 16, 40)
        self.assertEqual([reviews.label_of(words, vocabulary) for words in found], labels.tolist())

    def test_classes_are_even_and_lengths_and_ranks_within_their_limits(self):
        found, labels = reviews.make_reviews(1, 0, 1000, 600, 16, 40)
        self.assertTrue(0.45 < labels.mean() < 0.55)
        self.assertEqual((min(map(len, found)), max(map(len, found))), (16, 40))
        self.assertTrue(all(1 <= min(words) and max(words) <= 600 for words in found))

    def test_frequent_words_have_low_ranks(self):
        found, _ = reviews.make_reviews(1, 0, 1000, 600, 16, 40)
        counts = numpy.bincount(numpy.concatenate(found), minlength=601)
        self.assertGreater(counts[1:6].sum(), 3 * counts[300:305].sum())

    def test_a_fifth_of_the_polar_words_is_turned(self):
        positive, negative, negators, _ = reviews.vocabulary_of(1, 600)
        found, _ = reviews.make_reviews(1, 0, 1000, 600, 16, 40)
        words = numpy.concatenate(found)
        polar, turned = numpy.isin(words, numpy.concatenate([positive, negative])).sum(), numpy.isin(words, negators).sum()
        self.assertTrue(0.17 < turned / polar < 0.23, turned / polar)

    def test_parts_and_seeds_differ_and_repeat(self):
        first = reviews.make_reviews(1, 0, 20, 600, 16, 40)[0].tolist()
        self.assertEqual(first, reviews.make_reviews(1, 0, 20, 600, 16, 40)[0].tolist())
        self.assertNotEqual(first, reviews.make_reviews(1, 1, 20, 600, 16, 40)[0].tolist())
        self.assertNotEqual(first, reviews.make_reviews(2, 0, 20, 600, 16, 40)[0].tolist())


class Sequences(unittest.TestCase):
    def test_numbers_of_words_are_those_of_keras(self):
        # Rank 1 is 4; the first word that is too rare has the number of the vocabulary's size.
        self.assertEqual(layout.sequence_of([1, 16, 17], words=20), [1, 4, 19, 2])
        numpy.testing.assert_array_equal(layout.sequences_of([[5], [5, 6, 7, 8]], 20, 3), [[0, 1, 8], [9, 10, 11]])

    def test_a_bag_has_words_and_no_padding(self):
        bags = layout.bags_of(numpy.array([[0, 1, 5, 5, 2]]), 8)
        self.assertEqual(bags.tolist(), [[0, 0, 0, 0, 0, 1, 0, 0]])


class Layout(Folder):
    def write(self, **changes):
        arrays = {
            "x_train": objects([1, 2, 3], [4]),
            "y_train": numpy.array([0, 1]),
            "x_test": objects([7], [8, 9]),
            "y_test": numpy.array([1, 0]),
        }
        arrays.update(changes)
        write_npz(self.folder / "imdb.npz", {name: values for name, values in arrays.items() if values is not None})

    def test_generated_bytes_repeat_and_numpy_reads_the_same_lists(self):
        for name in ("a.npz", "b.npz"):
            done = command("generate.py", "--out", self.folder / name, "--train", 60, "--test", 10)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "a.npz").read_bytes(), (self.folder / "b.npz").read_bytes())
        with numpy.load(self.folder / "a.npz", allow_pickle=True) as file:
            (train, labels), _ = layout.read_reviews(self.folder / "a.npz")
            self.assertEqual(file["x_train"].dtype, object)
            self.assertEqual(file["x_train"].tolist(), train)
            numpy.testing.assert_array_equal(file["y_train"], labels)

    def test_a_file_that_numpy_wrote_is_staged_in(self):
        numpy.savez(self.folder / "imdb.npz", x_train=objects([1, 2], [3]), y_train=[0, 1], x_test=objects([4, 5], [6]), y_test=[0, 1])
        done = self.stage_in("--any-digest")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 reviews to train on, 2 to test with", done.stdout)

    def test_another_digest_is_refused_before_anything_is_read(self):
        self.write(x_train=objects(Hostile(), [1]))
        self.refused(self.stage_in(), "imdb.npz: has the digest", "expected 69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f")

    def test_a_pickle_with_code_is_refused_and_not_run(self):
        self.write(x_train=objects(Hostile(), [1]))
        self.refused(self.stage_in("--any-digest"), "imdb.npz: array 'x_train' is refused: it names posix.system")

    def test_other_shapes_types_and_labels_are_refused(self):
        for changes, expected in (
            ({"x_train": numpy.zeros((2, 3), int)}, "array 'x_train' is int64 of shape (2, 3); expected an object array of lists of integers"),
            ({"x_train": objects([1], "good")}, "array 'x_train': entry 1 is not a list of integers"),
            ({"x_train": objects([1], [1.5])}, "array 'x_train': entry 1 is not a list of integers"),
            ({"x_test": objects([1], [0])}, "array 'x_test': review 1 has the word 0; expected ranks from 1 on"),
            ({"y_train": numpy.array([0, 2])}, "array 'y_train' has labels other than 0 (negative) and 1 (positive)"),
            ({"y_test": numpy.array([0])}, "array 'y_test' is int64 of shape (1,); expected 2 integers"),
            ({"x_test": None}, "array 'x_test' is missing"),
        ):
            self.write(**changes)
            self.refused(self.stage_in("--any-digest"), "imdb.npz: " + expected)

    def test_cut_files_are_refused(self):
        self.write()
        path = self.folder / "imdb.npz"
        path.write_bytes(path.read_bytes()[:-30])
        self.refused(self.stage_in("--any-digest"), "imdb.npz: is not a whole NumPy archive")
        path.unlink()
        self.refused(self.stage_in(), "imdb.npz: does not exist", "sabath fetch imdb")

    def test_a_framework_that_is_not_there(self):
        self.write()
        self.no_framework(self.folder)


if __name__ == "__main__":
    unittest.main()
