#!/usr/bin/env python3
"""accept.py RECIPE: reads `sabath show RUN --json` and holds the run's last values against the acceptance of the recipe's README."""

import json
import sys

SIZES = {"mnist": 1000, "imdb": 1000, "imbalanced": 4000}


def metrics_of(document):
    found, work = {}, [document]
    while work:
        value = work.pop()
        if isinstance(value, dict):
            if {"name", "last", "points"} <= set(value):
                found[value["name"]] = value["last"]
            value = list(value.values())
        if isinstance(value, list):
            work += value
    return found


def main():
    recipe, m = sys.argv[1], metrics_of(json.load(sys.stdin))
    correct = m["test_accuracy"] * SIZES[recipe]
    checks = {"accuracy times N is the count of correct predictions": abs(correct - m["correct"]) < 1e-9 and m["correct"] == int(m["correct"])}
    if recipe == "mnist":
        checks["test_accuracy > .85"] = m["test_accuracy"] > 0.85
        checks["above the nearest neighbour"] = m["accuracy_over_baseline"] > 0
    if recipe == "imdb":
        checks["above the bag of words by .05"] = m["accuracy_over_baseline"] > 0.05
    if recipe == "imbalanced":
        counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
        checks["confusion counts add up to N"] = sum(m[name] for name in counts) == SIZES[recipe]
        checks["auc_pr > 3 times the logistic regression's"] = m["auc_pr"] > 3 * m["auc_pr_logistic"]
    for text, holds in checks.items():
        print(f"{'holds' if holds else 'FAILS'}: {text}")
    sys.exit(0 if all(checks.values()) else 1)


if __name__ == "__main__":
    main()
