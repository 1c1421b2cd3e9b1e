"""Checks samples of the real data set where they are, and writes their place and number to a JSON file."""

import argparse
import json
import pathlib

from common.report import InputError, run_main

from layout import PARTS, Archive, check_sample, decode_sample, part_names

EDGE = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="folder or tar archive with train/ and validation/")
    parser.add_argument("--out", required=True)
    parser.add_argument("--edge", type=int, default=EDGE, help="cells on a side of the real samples")
    arguments = parser.parse_args()
    if not arguments.folder:
        raise InputError(
            "folder", "is empty", "name the folder of the samples: --set folder=FOLDER"
        )
    archive = Archive(pathlib.Path(arguments.folder).resolve())
    found = {"folder": str(archive.path)}
    for part in PARTS:
        names = part_names(archive, part)
        place = f"{archive.path}: {names[0]}"
        cube, unit = decode_sample(place, archive.read(names[0]))
        check_sample(place, cube, unit)
        if cube.shape[0] != arguments.edge:
            raise InputError(place, f"array 'x' has {cube.shape[0]} cells a side; expected {arguments.edge}")
        found[part] = len(names)
    pathlib.Path(arguments.out).write_text(json.dumps(found, indent=1) + "\n")
    print(f"{found['train']} samples to train on, {found['validation']} to validate")


if __name__ == "__main__":
    run_main(main)
