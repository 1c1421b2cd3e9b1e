"""Logging from training code: `log({"loss": 0.5}, step=1)` appends a line to $SABATH_METRICS.

Outside of a run nothing is written. A line is one write to a file that is opened for appending. So threads and forked
processes may log at once, and a line that was written outlives the process. A full disk does not end the training: the
first line that is lost is reported on stderr.
"""

from __future__ import annotations

import errno
import json
import numbers
import os
import sys
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Union

from .errors import NotANumber, UsageError

Value = Union[int, float]

_OTHER_MEMBERS = ("step", "epoch", "time", "seeds", "sample_ids", "sample_order")
_LONGEST_NAME = 200  # bytes
_LONGEST_LINE = 1 << 16  # longer reports are several lines, which mean the same
_lock = threading.Lock()
_open: Dict[str, int] = {}
_keys: Dict[str, str] = {}
_cut: Set[int] = set()
_is_reported = False

# The file is chosen again where the variable was set again: its value is another object then. The dictionary beneath
# os.environ is asked, which is ten times as fast.
_environment: Mapping[Any, Any] = getattr(os.environ, "_data", os.environ)
_METRICS: Any = os.environ.encodekey("SABATH_METRICS") if _environment is not os.environ else "SABATH_METRICS"
_nothing = object()
_chosen_by: Any = _nothing
_path: Optional[str] = None
_file = -1


def is_in_run() -> bool:
    """Does this process belong to a run that records metrics?"""
    return bool(os.environ.get("SABATH_METRICS"))


def log(
    metrics: Mapping[str, Any],
    step: Optional[int] = None,
    epoch: Optional[int] = None,
    time_s: Optional[float] = None,
) -> None:
    """Records values of metrics.

    `metrics` has names and numbers: int, float, and what NumPy, PyTorch and TensorFlow give for one number. Whole
    numbers keep all digits; NaN and infinities are recorded. `step` and `epoch` are whole numbers, `time_s` seconds.
    Outside of a run nothing is written. Raises NotANumber (a TypeError) for a value that is not a number, UsageError for
    a wrong name.
    """
    if type(metrics) is not dict and not isinstance(metrics, Mapping):
        raise NotANumber(f"log: {type(metrics).__name__} is not a mapping of names to numbers", 'pass {"loss": 0.5}')
    # A call is to cost little more than its write: the most frequent cases come first, and without further calls.
    head = "{" if step is None else f'{{"step": {step if type(step) is int else _whole("step", step)}, '
    if epoch is not None:
        head += f'"epoch": {epoch if type(epoch) is int else _whole("epoch", epoch)}, '
    if time_s is not None:
        head += f'"time": {_number("time_s", time_s)}, '
    text = head
    for name, value in metrics.items():
        key = _keys.get(name) or _key(name)
        text += f"{key}{value!r}, " if type(value) is float and value - value == 0.0 else f"{key}{_number(name, value)}, "
    if _environment.get(_METRICS) is not _chosen_by:
        _choose_file()
    if _path is None or not metrics:
        return
    if len(text) < _LONGEST_LINE:
        _write((text[:-2] + "}\n").encode())
    else:
        _emit(head, [(_keys.get(name) or _key(name)) + _number(name, value) for name, value in metrics.items()], "}\n")


def _parts(members: List[str]) -> Iterable[str]:
    """The members joined, in parts that fit into lines."""
    whole = ", ".join(members)
    if len(whole) < _LONGEST_LINE or len(members) == 1:
        return (whole,)
    middle = len(members) // 2
    return (*_parts(members[:middle]), *_parts(members[middle:]))


def _name(name: Any, what: str) -> str:
    """A name as JSON. Raises UsageError for one that sabath does not read."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"log: {name!r} is not the name of {what}")
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise UsageError(f"log: the name {name!r} is not valid text") from error
    if size > _LONGEST_NAME or any(ord(char) < 0x20 or ord(char) == 0x7F for char in name):
        raise UsageError(f"log: the name {name!r} has control characters or more than {_LONGEST_NAME} bytes")
    return json.dumps(name, ensure_ascii=False)


def _key(name: Any) -> str:
    if name in _OTHER_MEMBERS:
        raise UsageError(f"log: '{name}' is not the name of a metric", "pass step=, epoch= or time_s=")
    key = _name(name, "a metric") + ": "
    if len(_keys) < 10_000:
        _keys[name] = key
    return key


def _whole(name: str, value: Any) -> int:
    number = value if isinstance(value, int) and not isinstance(value, bool) else _one(name, value)
    if isinstance(number, float) and not number.is_integer():
        raise UsageError(f"log: {name}={value!r} is not a whole number")
    return int(number)


def _number(name: str, value: Any) -> str:
    """The number as JSON: what is not finite is a text."""
    if type(value) is not float and type(value) is not int:
        value = _one(name, value)
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError as error:  # of thousands of digits
            raise UsageError(f"log: {name}: {error}") from error
    if value - value == 0.0:
        return float.__repr__(value)
    return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'


def _one(name: str, value: Any) -> Value:
    """A number as int or float; also one of NumPy, or an array or tensor of one element. Raises NotANumber."""
    item = value
    if not isinstance(value, (int, float)) and hasattr(value, "item"):
        try:
            item = value.item()
        except (ValueError, RuntimeError, TypeError) as error:
            raise NotANumber(f"log: {name} does not have one element", "log a mean or a sum") from error
    if isinstance(item, bool) or not isinstance(item, (int, float, numbers.Real)):
        raise NotANumber(f"log: {name}={value!r} is not a number")
    return item if isinstance(item, (int, float)) else float(item)


def is_number(value: Any) -> bool:
    """Does `log` take this value?"""
    try:
        _one("", value)
    except NotANumber:
        return False
    return True


def _emit(head: str, members: List[str], end: str) -> None:
    """Writes `head`, the members and `end` as one line. A long line is split; each part can be read."""
    if _environment.get(_METRICS) is not _chosen_by:
        _choose_file()
    if _path is None:
        return
    for part in _parts(members):
        _write((head + part + end).encode())


def _write(line: bytes) -> None:
    try:
        if _file < 0 or _cut:
            line = _prepared(line)
        written = os.write(_file, line)
        if written != len(line):
            _cut.add(_file)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        _report_once(error)


def _prepared(line: bytes) -> bytes:
    """Opens a file that could not be opened before. A full disk took part of a line: it is ended, so that this one is read."""
    global _file
    if _file < 0:
        with _lock:
            _file = _open_file(str(_path))
    if _file in _cut:
        _cut.discard(_file)
        return b"\n" + line
    return line


def _open_file(path: str) -> int:
    """An open file for appending, of this process: a forked one opens its own."""
    if path not in _open:
        _open[path] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    return _open[path]


def _choose_file() -> None:
    """Takes the file that the variables name now."""
    global _chosen_by, _path, _file
    with _lock:
        names = _environment.get(_METRICS)
        if names is _chosen_by:
            return
        _path = metrics_file()
        _file = -1
        if _path is not None:
            try:
                _file = _open_file(_path)
            except OSError:
                pass  # it is tried again, and reported, where a line is written
        _chosen_by = names


def _after_fork() -> None:
    global _lock, _chosen_by
    _lock = threading.Lock()  # another thread may hold the old one, which is not in this process
    _open.clear()
    _chosen_by = _nothing


os.register_at_fork(after_in_child=_after_fork)


def _report_once(error: OSError) -> None:
    global _is_reported
    if not _is_reported:
        _is_reported = True
        print(f"pysabath: {_path}: a line of metrics is lost: {error.strerror}; this is reported once", file=sys.stderr)


def log_seeds(**seeds: int) -> None:
    """Reports seeds that the code uses, by library: `log_seeds(numpy=7, torch=7)`. They are recorded and compared."""
    members = [f"{_name(name, 'a seed')}: {_whole(name, value)}" for name, value in seeds.items()]
    if members:
        _emit('{"seeds": {', members, "}}\n")


def log_sample_ids(ids: Iterable[Any], epoch: Optional[int] = None) -> None:
    """Reports the order of samples: whole numbers, or texts without control characters. Its digest is compared."""
    head = "{" if epoch is None else f'{{"epoch": {_whole("epoch", epoch)}, '
    texts = [_name(one, "a sample") if isinstance(one, str) else str(_whole("sample id", one)) for one in ids]
    if texts:
        _emit(head + '"sample_ids": [', texts, "]}\n")


def log_sample_order(digest: str) -> None:
    """Reports a digest of the order of samples that the code has computed itself."""
    _emit('{"sample_order": ', [_name(digest, "an order")], "}\n")


_RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))


def metrics_file() -> Optional[str]:
    """Returns the file that lines are appended to: one for each rank of a parallel program. None outside of a run."""
    own = os.environ.get("SABATH_METRICS")
    if not own:
        return None
    folder = os.environ.get("SABATH_METRICS_DIR")
    if not folder or "SABATH_RANK" in os.environ:
        return own
    for rank, size in _RANKS:
        number = os.environ.get(rank, "")
        if number and os.environ.get(size, "1") != "1":
            return os.path.join(folder, f"metrics-{number}.jsonl") if number.isascii() and number.isdigit() else own
    return own
