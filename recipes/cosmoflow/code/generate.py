"""Writes generated universes in the raw layout of CosmoUniverse: a tar archive with one HDF5 file a universe."""

import argparse

from common.report import run_main

from layout import PARTS, ArchiveWriter, encode_universe
from universe import make_universe


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--train", type=int, default=2000)
    parser.add_argument("--validation", type=int, default=300)
    parser.add_argument("--grid", type=int, default=16, help="cells on a side")
    parser.add_argument("--voxel", type=float, default=6.0, help="side of a cell in Mpc/h")
    parser.add_argument("--unit", choices=("mpc_over_h", "mpc"), default="mpc_over_h", help="mpc: --voxel holds for H_0 = 70")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    archive = ArchiveWriter(arguments.out)
    number = 0
    for part in PARTS:
        for _ in range(getattr(arguments, part)):
            counts, physical = make_universe(arguments.seed, number, arguments.grid, arguments.voxel, arguments.unit)
            archive.add(f"{part}/univ_{number:06}.hdf5", encode_universe(arguments.seed, number, counts, physical))
            number += 1
    archive.close()


if __name__ == "__main__":
    run_main(main)
