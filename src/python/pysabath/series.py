"""Series of metrics: all points of a run, from `series.h5` with h5py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Union

from .errors import NotFound, SabathError

if TYPE_CHECKING:
    import numpy

NOT_REPORTED = -(2**63)  # of `step` and `epoch`
COLUMNS = ("step", "epoch", "rank", "time_s", "value")


def escaped(name: str) -> str:
    """Returns the name of a metric or stage as a group of series.h5 has it."""
    out = []
    for number, char in enumerate(name):
        code = ord(char)
        if char in "/%" or code < 0x20 or code == 0x7F or (number == 0 and char == "."):
            out.extend(f"%{byte:02X}" for byte in char.encode())
        else:
            out.append(char)
    return "".join(out)


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise SabathError(
            "reading the points of a metric needs h5py, which cannot be imported",
            "install h5py (pip install h5py), or use 'sabath report RUN --as json', which needs the program",
        ) from error
    return h5py


def read_series(path: Path, stage: str, name: str) -> "Dict[str, numpy.ndarray]":
    """Returns the columns of a metric as arrays of one length.

    `step` and `epoch` are int64 (NOT_REPORTED where the code did not say), `rank` is int32, `time_s` (seconds) and
    `value` are float64 with the reported bits. `rest` is there where a whole number exceeds a double: the number is
    value + rest. Raises NotFound without the file or the metric, SabathError without h5py.
    """
    h5py = _h5py()
    if not path.is_file():
        raise NotFound(f"{path}: no such file; the run has no points of metrics")
    with h5py.File(path, "r") as file:
        group = file.get(f"{escaped(stage)}/{escaped(name)}")
        if group is None:
            raise NotFound(f"{path}: has no metric '{stage}/{name}'")
        return {column: group[column][()] for column in (*COLUMNS, "rest") if column in group}


def exact_values(series: "Dict[str, numpy.ndarray]") -> List[Union[int, float]]:
    """Returns the values of a series. Whole numbers of a series with `rest` are int, with all digits."""
    values = series["value"]
    if "rest" not in series:
        return values.tolist()
    exact: List[Union[int, float]] = []
    for value, rest in zip(values.tolist(), series["rest"].tolist()):
        is_whole = value == value and abs(value) != float("inf") and value.is_integer()
        exact.append(int(value) + int(rest) if is_whole else value)
    return exact
