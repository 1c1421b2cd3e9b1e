"""Checks the real `creditcard.csv` where it is, and writes its place and digest."""

import argparse

from common.report import run_main
from common.staged import data_set_file, write_place

from layout import ASSET, NAME, read_transactions


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="folder of the data set, or the file")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    path = data_set_file(arguments.folder, NAME, ASSET)
    _, classes = read_transactions(path)
    write_place(arguments.output, path)
    print(f"{len(classes)} transactions, {int(classes.sum())} frauds")


if __name__ == "__main__":
    run_main(main)
