"""Files of arrays and tables, opened with the library that reads them."""

from __future__ import annotations

import importlib
import json
import math
import struct
from pathlib import Path
from typing import Any, Callable, Dict

from .errors import NotFound, SabathError


def _library(name: str, path: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"yaml": "pyyaml", "safetensors.numpy": "safetensors"}.get(name, name)
        raise SabathError(f"{path.name}: opening it needs {package}, which cannot be imported", f"pip install {package}") from error


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


_IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def _idx(path: Path) -> Any:
    """The format of MNIST: a type, sizes, and numbers with the highest byte first."""
    numpy = _library("numpy", path)
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        import gzip

        content = gzip.decompress(content)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _IDX_TYPES or len(content) < 4 + 4 * content[3]:
        raise SabathError(f"{path}: is not a file of idx")
    shape = struct.unpack(f">{content[3]}I", content[4 : 4 + 4 * content[3]])
    values = numpy.frombuffer(content, _IDX_TYPES[content[2]], offset=4 + 4 * content[3])
    if values.size != math.prod(shape):
        raise SabathError(f"{path}: has {values.size} numbers, its header declares {math.prod(shape)}")
    return values.reshape(shape)


# What opens a format. Formats that can execute code when they are read (pickle) are not opened.
_OPENERS: Dict[str, Callable[[Path], Any]] = {
    "hdf5": lambda path: _library("h5py", path).File(path, "r"),
    "netcdf": lambda path: _library("xarray", path).open_dataset(path),
    "grib": lambda path: _library("xarray", path).open_dataset(path, engine="cfgrib"),
    "npy": lambda path: _library("numpy", path).load(path, allow_pickle=False),
    "csv": lambda path: _library("pandas", path).read_csv(path),
    "tsv": lambda path: _library("pandas", path).read_csv(path, sep="\t"),
    "parquet": lambda path: _library("pandas", path).read_parquet(path),
    "safetensors": lambda path: _library("safetensors.numpy", path).load_file(path),
    "yaml": lambda path: _library("yaml", path).safe_load(_text(path)),
    "json": lambda path: json.loads(path.read_text(encoding="utf-8")),
    "text": _text,
    "idx": _idx,
}
_FORMATS = {
    ".h5": "hdf5", ".hdf5": "hdf5", ".nc": "netcdf", ".nc4": "netcdf", ".grib": "grib", ".grb": "grib", ".npy": "npy",
    ".npz": "npy", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".safetensors": "safetensors", ".yaml": "yaml",
    ".yml": "yaml", ".json": "json", ".txt": "text", ".md": "text", ".log": "text", ".idx": "idx",
}
_OTHER_NAMES = {"netcdf4": "netcdf", "netcdf3": "netcdf", "npz": "npy", "grib2": "grib"}


def open_file(path: "Path | str", format: str = "") -> Any:
    """Opens a file with what its suffix asks for, or else `format`, as an asset states it.

    hdf5: h5py.File; netcdf, grib: xarray.Dataset; npy, npz: numpy; csv, tsv, parquet: pandas.DataFrame; safetensors: a
    dictionary of arrays; json, yaml: Python values; idx: a NumPy array; text: str. A folder and anything else is returned
    as a pathlib.Path. Raises NotFound, SabathError.
    """
    path = Path(path)
    if not path.exists():
        raise NotFound(f"{path}: no such file", "outputs of a run may have been removed or archived")
    if path.is_dir():
        return path
    name = format.lower()
    opener = _OPENERS.get(_FORMATS.get(path.suffix.lower()) or _OTHER_NAMES.get(name, name))
    return path if opener is None else opener(path)
