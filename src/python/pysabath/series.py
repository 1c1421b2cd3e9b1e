"""Series of metrics: all points of a run, from `series.h5` with h5py, or else from the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import NotFound, ProgramMissing, SabathError
from .program import ask, find_program

if TYPE_CHECKING:
    import numpy

NOT_REPORTED = -(2**63)  # of `step` and `epoch`
COLUMNS = ("step", "epoch", "rank", "time_s", "value")


def escaped(name: str) -> str:
    """Returns the name of a metric or stage as a group of series.h5 has it."""
    out: List[str] = []
    for number, char in enumerate(name):
        code = ord(char)
        if char in "/%" or code < 0x20 or code == 0x7F or (number == 0 and char == "."):
            out.extend(f"%{byte:02X}" for byte in char.encode())
        else:
            out.append(char)
    return "".join(out)


def _library(name: str) -> Any:
    """A library, or None where it cannot be imported."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def read_series(
    folder: Path, path: Path, stage: str, name: str, columns: Sequence[str] = (*COLUMNS, "rest")
) -> "Dict[str, numpy.ndarray]":
    """Returns the columns of a metric of the run in `folder` as arrays of one length.

    `step` and `epoch` are int64 (NOT_REPORTED where the code did not say), `rank` is int32, `time_s` (seconds) and
    `value` are float64 with the reported bits. `rest` is there where a whole number exceeds a double: the number is
    value + rest. Read with h5py, without it or of an archived run with the program. Raises NotFound without the file or
    the metric, SabathError without NumPy, or without h5py and program.
    """
    h5py = _library("h5py")
    is_archived = (folder / "archive.json").is_file()
    if not is_archived and not path.is_file():
        raise NotFound(f"{path}: no such file; the run has no points of metrics")
    if h5py is not None and not is_archived:
        with h5py.File(path, "r") as file:
            group = file.get(f"{escaped(stage)}/{escaped(name)}")
            if group is None:
                raise NotFound(f"{path}: has no metric '{stage}/{name}'")
            return {column: group[column][()] for column in columns if column in group}
    if find_program() is None:
        raise ProgramMissing(
            f"the points of a metric are read by {'' if is_archived else 'h5py or '}the program 'sabath'; "
            f"{'it was not found' if is_archived else 'neither was found'}",
            ("" if is_archived else "pip install h5py, or ") + "install sabath and add it to PATH",
        )
    return _columns(ask(["show", folder.name, "--points", f"{stage}/{name}"], home=folder.parent.parent))


def _columns(answer: Mapping[str, List[Any]]) -> "Dict[str, numpy.ndarray]":
    """The columns in the answer of the program."""
    numpy = _library("numpy")
    if numpy is None:
        raise SabathError("the points of a metric are arrays, which need NumPy; it cannot be imported", "pip install numpy")
    exact = [number_of(one) for one in answer["value"]]
    times = [number_of(one) for one in answer["time_s"]]
    columns = {
        "rank": numpy.array(answer["rank"], numpy.int32),
        "time_s": numpy.array(times, numpy.float64),
        "value": numpy.array([float(one) for one in exact], numpy.float64),
    }
    for place in ("step", "epoch"):
        columns[place] = numpy.array([NOT_REPORTED if one is None else one for one in answer[place]], numpy.int64)
    rests = [one - int(float(one)) if isinstance(one, int) else 0 for one in exact]
    if any(rests):
        columns["rest"] = numpy.array(rests, numpy.float64)
    return columns


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


def read_lines(folder: Path) -> Dict[str, List[Tuple[Optional[int], float]]]:
    """Returns steps and values by STAGE/NAME of the newest attempt of the run in `folder`, from $SABATH_METRICS of its stages.

    The lowest rank that reports a metric counts. Lines that cannot be read, such as one that is being written, are left out.
    """
    attempts = sorted((int(one.name) for one in folder.glob("attempts/*") if one.name.isdigit()), reverse=True)
    points: Dict[str, List[Tuple[Optional[int], float]]] = {}
    if not attempts:
        return points
    files = [one for one in (folder / "attempts" / str(attempts[0])).glob("*/metrics-*.jsonl") if one.stem[8:].isdigit()]
    for path in sorted(files, key=lambda one: (one.parent.name, int(one.stem[8:]))):
        of_rank: Dict[str, List[Tuple[Optional[int], float]]] = {}
        for line in path.read_bytes().split(b"\n"):
            for name, value, step in _values_of(line):
                of_rank.setdefault(f"{path.parent.name}/{name}", []).append((step, value))
        for name, of_name in of_rank.items():
            points.setdefault(name, of_name)
    return points


def _values_of(line: bytes) -> List[Tuple[str, float, Optional[int]]]:
    try:
        members = json.loads(line) if line.strip() else {}
        members.pop("epoch", None)
        members.pop("time", None)
        step = members.pop("step", None)
        numbers = {name: number_of(value) for name, value in members.items()}
    except (ValueError, AttributeError):
        return []
    found = [(name, value) for name, value in numbers.items() if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return [(name, float(value), step if isinstance(step, int) else None) for name, value in found if abs(value) < 1e308 or isinstance(value, float)]


def number_of(value: Any) -> Any:
    """Returns the number that a document writes as text: "NaN", "Infinity", "-Infinity". Other values stay."""
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value.replace("Infinity", "inf"))
    return value
