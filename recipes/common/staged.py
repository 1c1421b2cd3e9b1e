"""The data file of a run: generated, or the real one where its data set is."""

import hashlib
import json
import pathlib

from .report import InputError

PLACE = "place.json"


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_place(output, path):
    """Writes where the real file is and the digest of its bytes; `find_data` follows it."""
    path = pathlib.Path(path).resolve()
    document = {"file": str(path), "sha256": digest_of(path)}
    (pathlib.Path(output) / PLACE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def find_data(place, name):
    """The file `name` of a run's outputs (stage generate or stage-in), of a folder, or `place` itself."""
    place = pathlib.Path(place)
    if place.is_file():
        return place
    for candidate in (place / "generate" / name, place / name):
        if candidate.is_file():
            return candidate
    document = place / "stage-in" / PLACE
    if document.is_file():
        return pathlib.Path(json.loads(document.read_text(encoding="utf-8"))["file"])
    raise InputError(place, f"has no file '{name}'", f"name the file, or a folder that has '{name}'")


def data_set_file(folder, name, asset):
    """The file `name` of a fetched data set; the data set may be the file itself."""
    folder = pathlib.Path(folder)
    path = folder / name if folder.is_dir() else folder
    if not path.is_file():
        raise InputError(path, "does not exist", f"fetch the data: sabath fetch {asset}")
    return path
