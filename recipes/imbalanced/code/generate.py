"""Writes made-up transactions in the layout of `creditcard.csv`."""

import argparse

from common.report import run_main

from layout import write_transactions
from transactions import make_transactions


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--frauds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the data")
    arguments = parser.parse_args()
    write_transactions(arguments.out, *make_transactions(arguments.seed, arguments.count, arguments.frauds))


if __name__ == "__main__":
    run_main(main)
