"""Files of arrays and tables, opened with the library that reads them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from .errors import NotFound, SabathError


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SabathError(f"{path.name}: opening it needs {name}, which cannot be imported", f"pip install {name}") from error


def open_file(path: "Path | str") -> Any:
    """Opens a file with what its suffix asks for.

    .h5 .hdf5: h5py.File; .nc: xarray.Dataset; .npy .npz: numpy; .csv .tsv: pandas.DataFrame; .json: Python values;
    .txt .md .log: text. A folder and anything else is returned as a pathlib.Path. Raises NotFound, SabathError.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"{path}: no such file", "outputs of a run may have been removed")
    suffix = path.suffix.lower()
    if path.is_dir():
        return path
    if suffix in (".h5", ".hdf5"):
        return _library("h5py", path).File(path, "r")
    if suffix in (".nc", ".nc4"):
        return _library("xarray", path).open_dataset(path)
    if suffix in (".npy", ".npz"):
        return _library("numpy", path).load(path, allow_pickle=False)
    if suffix in (".csv", ".tsv"):
        return _library("pandas", path).read_csv(path, sep="\t" if suffix == ".tsv" else ",")
    if suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if suffix in (".txt", ".md", ".log"):
        return path.read_text(encoding="utf-8", errors="replace")
    return path
