"""Writes drawn digits in the layout of `mnist.npz`; the writers of the test images write none of the others."""

import argparse

from common.npz_files import write_npz
from common.report import run_main

from strokes import make_images


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--train", type=int, default=6000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--writers", type=int, default=60, help="of the training images; a sixth as many write the test images")
    parser.add_argument("--seed", type=int, default=1, help="of the data")
    arguments = parser.parse_args()
    x_train, y_train = make_images(arguments.seed, arguments.train, arguments.writers, 0)
    x_test, y_test = make_images(arguments.seed, arguments.test, max(1, arguments.writers // 6), arguments.writers)
    write_npz(arguments.out, {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test})


if __name__ == "__main__":
    run_main(main)
