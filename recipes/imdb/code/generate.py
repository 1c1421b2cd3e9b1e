"""Writes made-up reviews in the layout of `imdb.npz`, object arrays of lists included."""

import argparse

from common.npz_files import write_npz
from common.report import run_main

from reviews import make_reviews


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--train", type=int, default=4000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--shortest", type=int, default=16)
    parser.add_argument("--longest", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="of the data")
    arguments = parser.parse_args()
    arrays = {}
    for number, part in enumerate(("train", "test")):
        arrays[f"x_{part}"], arrays[f"y_{part}"] = make_reviews(
            arguments.seed, number, getattr(arguments, part), arguments.words, arguments.shortest, arguments.longest
        )
    write_npz(arguments.out, arrays)


if __name__ == "__main__":
    run_main(main)
