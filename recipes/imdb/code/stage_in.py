"""Checks the digest and the content of the real `imdb.npz` where it is, and writes its place."""

import argparse

from common.report import run_main
from common.staged import data_set_file, write_place

from layout import ASSET, NAME, check_digest, read_reviews


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="folder of the data set, or the file")
    parser.add_argument("--output", required=True)
    parser.add_argument("--any-digest", action="store_true", help="for tests: a file of the same layout")
    arguments = parser.parse_args()
    path = data_set_file(arguments.folder, NAME, ASSET)
    if not arguments.any_digest:
        check_digest(path)
    (train, _), (test, _) = read_reviews(path)
    write_place(arguments.output, path)
    print(f"{len(train)} reviews to train on, {len(test)} to test with")


if __name__ == "__main__":
    run_main(main)
