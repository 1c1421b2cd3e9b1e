"""Cuts raw universes into cubes, x slowest and z fastest, and writes one sample a file into train/ and validation/."""

import argparse
import pathlib

from common.report import InputError, run_main

from layout import PARTS, Archive, ArchiveWriter, check_sample, decode_universe, encode_sample


def cubes_of(counts, cuts):
    """Yields the cuts^3 cubes of a universe."""
    edge = counts.shape[0] // cuts
    for x in range(0, counts.shape[0], edge):
        for y in range(0, counts.shape[1], edge):
            for z in range(0, counts.shape[2], edge):
                yield counts[x : x + edge, y : y + edge, z : z + edge]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--universes", required=True, help="folder or tar archive with train/*.hdf5 and validation/*.hdf5")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cuts", type=int, default=1, help="cubes on a side; CosmoUniverse has 4")
    parser.add_argument("--format", choices=("tfrecord", "hdf5"), default="tfrecord")
    arguments = parser.parse_args()
    source, target = Archive(arguments.universes), ArchiveWriter(arguments.out)
    for name in source.names:
        path = pathlib.PurePath(name)
        part = next((folder for folder in path.parts[:-1] if folder in PARTS), None)
        if part is None or path.suffix != ".hdf5":
            continue
        place = f"{source.path}: {name}"
        counts, unit = decode_universe(place, source.read(name))
        if counts.shape[0] % arguments.cuts:
            raise InputError(place, f"array 'full' has {counts.shape[0]} cells a side, which {arguments.cuts} cubes do not divide")
        for number, cube in enumerate(cubes_of(counts, arguments.cuts)):
            check_sample(place, cube, unit)
            target.add(f"{part}/{path.stem}_{number:03}.{arguments.format}", encode_sample(arguments.format, cube, unit))
    target.close()


if __name__ == "__main__":
    run_main(main)
