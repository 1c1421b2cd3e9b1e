#!/usr/bin/env python3
"""scores_test.py CODE: scores, baselines and the published table, against values by hand. Needs NumPy alone."""

import csv
import pathlib

import support
import unittest

import numpy

from common import class_scores as scores

TABLE = pathlib.Path(__file__).parents[2] / "data" / "compare" / "osg-2022-imbalanced-mnist.csv"


class Scores(unittest.TestCase):
    def test_average_precision_of_a_ranking_by_hand(self):
        # Hits at ranks 1 and 3 of 4: precision 1 and 2/3, each with a step of recall of 1/2.
        self.assertAlmostEqual(scores.area_under_precision_recall([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]), (1 + 2 / 3) / 2, delta=1e-15)

    def test_equal_scores_give_the_share_of_positives_in_any_order(self):
        truth = [1, 0, 0, 0, 1]
        for order in (truth, truth[::-1]):
            self.assertAlmostEqual(scores.area_under_precision_recall([0.5] * 5, order), 0.4, delta=1e-15)

    def test_a_perfect_ranking_gives_one_and_no_positive_gives_zero(self):
        self.assertEqual(scores.area_under_precision_recall([3, 2, 1], [1, 1, 0]), 1.0)
        self.assertEqual(scores.area_under_precision_recall([3, 2, 1], [0, 0, 0]), 0.0)

    def test_recall_at_a_precision_is_the_greatest_that_has_it(self):
        # Precision after each: 1, 1/2, 2/3, 1/2, 2/5.
        ranking = ([5, 4, 3, 2, 1], [1, 0, 1, 0, 0])
        self.assertEqual(scores.recall_at_precision(*ranking, least=0.5), 1.0)
        self.assertEqual(scores.recall_at_precision(*ranking, least=0.9), 0.5)
        self.assertEqual(scores.recall_at_precision([2, 1], [0, 0]), 0.0)

    def test_confusion_counts_add_up(self):
        random = numpy.random.default_rng(1)
        predicted, truth = random.random(999) < 0.3, random.random(999) < 0.1
        counts = scores.confusion(predicted, truth)
        self.assertEqual(sum(counts), 999)
        self.assertEqual(counts[0] + counts[3], scores.correct_count(predicted, truth))
        self.assertEqual(counts[0] + counts[2], int(truth.sum()))

    def test_logistic_regression_finds_the_law_behind_the_labels(self):
        random = numpy.random.default_rng(2)
        features = random.normal(size=(4000, 2))
        labels = random.random(4000) < 1 / (1 + numpy.exp(-(2 * features[:, 0] - features[:, 1] + 0.5)))
        odds = scores.logistic_regression(features, labels, penalty=1e-6)
        at = odds(numpy.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
        numpy.testing.assert_allclose([at[0], at[1] - at[0], at[2] - at[0]], [0.5, 2, -1], atol=0.2)

    def test_the_nearest_neighbour_of_a_known_row_is_itself(self):
        rows = numpy.random.default_rng(3).integers(0, 256, (700, 9))
        self.assertTrue((scores.nearest_neighbour(rows, numpy.arange(700), rows) == numpy.arange(700)).all())


class PublishedTable(unittest.TestCase):
    """Every published accuracy is a whole number of test samples, and the values form three classes."""

    def test_accuracies_are_counts_and_classes_are_identical(self):
        rows = list(csv.DictReader(TABLE.read_text().splitlines()))
        self.assertEqual(len(rows), 25)
        for column, size, counts in (("mnist_convnet", 10000, {9920, 9919, 9922}), ("imbalanced_classification", 56961, {56615, 56768, 56517})):
            found = {}
            for row in rows:
                correct = round(float(row[column]) * size)
                self.assertEqual(numpy.float32(correct / size), numpy.float32(row[column]), row)
                found.setdefault(correct, set()).add(row["site"])
            self.assertEqual(set(found), counts)
            self.assertEqual(sum(len(sites) for sites in found.values()), len({row["site"] for row in rows}))


if __name__ == "__main__":
    unittest.main()
