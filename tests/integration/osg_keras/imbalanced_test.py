#!/usr/bin/env python3
"""imbalanced_test.py CODE: made-up transactions, the layout of creditcard.csv, and every bad input. Needs NumPy alone."""

import csv

import support
import unittest

import numpy

import layout
import transactions
from common.class_scores import area_under_precision_recall, logistic_regression
from support import Folder, command


class Generator(unittest.TestCase):
    def test_counts_times_and_amounts(self):
        time, components, amount, classes = transactions.make_transactions(1, 5000, 37)
        self.assertEqual((components.shape, int(classes.sum())), ((5000, 28), 37))
        self.assertTrue((numpy.diff(time) >= 0).all() and time[0] >= 0 and time[-1] <= 172792)
        self.assertTrue((amount >= 0).all())
        numpy.testing.assert_array_equal(amount, numpy.round(amount, 2))

    def test_genuine_components_are_centred_scaled_and_heavy_tailed(self):
        _, components, _, classes = transactions.make_transactions(1, 40000, 100)
        genuine = components[classes == 0] / transactions.scales_of()
        self.assertLess(numpy.abs(genuine.mean(axis=0)).max(), 0.03)
        numpy.testing.assert_allclose(genuine.std(axis=0), 1, atol=0.1)
        self.assertGreater((numpy.abs(genuine) > 5).mean(), 20 * 5.7e-7)  # a normal distribution has 5.7e-7
        self.assertTrue((numpy.diff(transactions.scales_of()) < 0).all())

    def test_each_scheme_shifts_its_components_and_no_time_or_amount(self):
        shifts = transactions.schemes_of(1)
        self.assertEqual([int((row != 0).sum()) for row in shifts], [transactions.SHIFTED] * transactions.SCHEMES)
        time, _, amount, classes = transactions.make_transactions(1, 40000, 4000)
        self.assertAlmostEqual(time[classes == 1].mean() / time[classes == 0].mean(), 1, delta=0.03)
        self.assertAlmostEqual(numpy.log(amount[classes == 1] + 1).mean() / numpy.log(amount[classes == 0] + 1).mean(), 1, delta=0.03)

    def test_one_direction_finds_some_frauds_and_not_most(self):
        time, components, amount, classes = transactions.make_transactions(1, 20000, 100)
        features, cut = numpy.column_stack([time, components, amount]), 16000
        odds = logistic_regression(features[:cut], classes[:cut], (1 / numpy.bincount(classes[:cut]))[classes[:cut]])
        area, chance = area_under_precision_recall(odds(features[cut:]), classes[cut:]), classes[cut:].mean()
        self.assertTrue(3 * chance < area < 0.5, area)


class Layout(Folder):
    def write(self, count=300, frauds=20):
        arrays = transactions.make_transactions(1, count, frauds)
        layout.write_transactions(self.folder / "creditcard.csv", *arrays)
        return arrays

    def edited(self, line, column, value):
        self.write()
        path = self.folder / "creditcard.csv"
        lines = path.read_text().splitlines()
        words = lines[line - 1].split(",")
        words[column] = value
        lines[line - 1] = ",".join(words)
        path.write_text("\n".join(lines) + "\n")

    def test_written_values_come_back_to_the_bit(self):
        time, components, amount, classes = self.write()
        features, found = layout.read_transactions(self.folder / "creditcard.csv")
        numpy.testing.assert_array_equal(features, numpy.column_stack([time, components, amount]))
        numpy.testing.assert_array_equal(found, classes)

    def test_a_reader_of_csv_finds_31_columns_by_their_names(self):
        self.write()
        with open(self.folder / "creditcard.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 300)
        self.assertEqual(list(rows[0]), ["Time", *(f"V{n}" for n in range(1, 29)), "Amount", "Class"])
        self.assertEqual(sum(int(row["Class"]) for row in rows), 20)

    def test_generated_bytes_repeat(self):
        for name in ("a.csv", "b.csv"):
            done = command("generate.py", "--out", self.folder / name, "--count", 1000, "--frauds", 10)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "a.csv").read_bytes(), (self.folder / "b.csv").read_bytes())

    def test_a_row_as_the_data_set_has_it_is_staged_in(self):
        self.edited(2, 0, "0")
        done = self.stage_in()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("300 transactions, 20 frauds", done.stdout)

    def test_other_columns_types_and_units_are_refused(self):
        for line, column, value, expected in (
            (1, 0, '"V0"', "has 31 columns: V0,V1"),
            (7, 3, "x", "column 'V3' of line 7 is 'x'; expected a number"),
            (7, 3, "", "column 'V3' of line 7 is ''; expected a number"),
            (9, 4, "nan", "column 'V4' of line 9 is nan; expected finite numbers"),
            (9, 29, "-0.34", "column 'Amount' has -0.34; expected amounts from 0 on, not standardised ones"),
            (9, 30, '"2"', "column 'Class' has values other than 0 (genuine) and 1 (fraud)"),
            (9, 0, "99999999", "column 'Time' falls at line 10; expected seconds"),
            (9, 5, "1,2", "line 9 has 32 values; expected 31"),
        ):
            self.edited(line, column, value)
            self.refused(self.stage_in(), "creditcard.csv: " + expected)

    def test_cut_and_foreign_files_are_refused(self):
        self.write()
        path = self.folder / "creditcard.csv"
        text = path.read_text()
        path.write_text(text[:-9])
        self.refused(self.stage_in(), "creditcard.csv: is cut short: line 301 has no end")
        path.write_text(text.splitlines()[0] + "\n")
        self.refused(self.stage_in(), "creditcard.csv: has no transactions")
        path.write_bytes(b"\x89PNG\xff\xfe")
        self.refused(self.stage_in(), "creditcard.csv: is not text")
        path.unlink()
        self.refused(self.stage_in(), "creditcard.csv: does not exist", "sabath fetch creditcard-fraud-kaggle")

    def test_a_part_without_frauds_is_refused(self):
        self.write(300, 20)
        path = self.folder / "creditcard.csv"
        path.write_text(path.read_text().replace('"1"\n', '"0"\n'))
        self.refused(command("train.py", "--data", path, "--output", self.folder), "column 'Class' has one class alone")

    def test_a_framework_that_is_not_there(self):
        self.write()
        self.no_framework(self.folder)


if __name__ == "__main__":
    unittest.main()
