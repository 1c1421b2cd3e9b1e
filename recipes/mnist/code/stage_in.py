"""Checks the real `mnist.npz` where it is, and writes its place and digest."""

import argparse

from common.report import run_main
from common.staged import data_set_file, write_place

from layout import ASSET, NAME, read_digits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="folder of the data set, or the file")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    path = data_set_file(arguments.folder, NAME, ASSET)
    x_train, _, x_test, _ = read_digits(path)
    write_place(arguments.output, path)
    print(f"{len(x_train)} images to train on, {len(x_test)} to test with")


if __name__ == "__main__":
    run_main(main)
