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
_cut: Set[str] = set()
_is_reported = False


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
    if not isinstance(metrics, Mapping):
        raise NotANumber(f"log: {type(metrics).__name__} is not a mapping of names to numbers", 'pass {"loss": 0.5}')
    head = "{"
    if step is not None:
        head += f'"step": {_whole("step", step)}, '
    if epoch is not None:
        head += f'"epoch": {_whole("epoch", epoch)}, '
    if time_s is not None:
        head += f'"time": {_number("time_s", time_s)}, '
    members = [(_keys.get(name) or _key(name)) + _number(name, value) for name, value in metrics.items()]
    path = metrics_file() if members else None
    if path is not None:
        for part in _parts(members):
            _write(path, f"{head}{part}}}\n".encode())


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


def _descriptor(path: str) -> int:
    """An open file for appending, of this process: a forked one opens its own."""
    with _lock:
        if path not in _open:
            _open[path] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        return _open[path]


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may hold the old one, which is not in this process
    _open.clear()


os.register_at_fork(after_in_child=_after_fork)


def _write(path: str, line: bytes) -> None:
    try:
        descriptor = _open.get(path)
        if descriptor is None:
            descriptor = _descriptor(path)
        if path in _cut:  # a disk that was full took part of a line; it is ended, so that this one is read
            line = b"\n" + line
        written = os.write(descriptor, line)
        if written != len(line):
            _cut.add(path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _cut.discard(path)
    except OSError as error:
        _report_once(path, error)


def _report_once(path: str, error: OSError) -> None:
    global _is_reported
    if not _is_reported:
        _is_reported = True
        print(f"pysabath: {path}: a line of metrics is lost: {error.strerror}; this is reported once", file=sys.stderr)


def log_seeds(**seeds: int) -> None:
    """Reports seeds that the code uses, by library: `log_seeds(numpy=7, torch=7)`. They are recorded and compared."""
    members = [f"{_name(name, 'a seed')}: {_whole(name, value)}" for name, value in seeds.items()]
    path = metrics_file() if members else None
    if path is not None:
        _write(path, ('{"seeds": {' + ", ".join(members) + "}}\n").encode())


def log_sample_ids(ids: Iterable[Any], epoch: Optional[int] = None) -> None:
    """Reports the order of samples: whole numbers, or texts without control characters. Its digest is compared."""
    head = "{" if epoch is None else f'{{"epoch": {_whole("epoch", epoch)}, '
    texts = [_name(one, "a sample") if isinstance(one, str) else str(_whole("sample id", one)) for one in ids]
    path = metrics_file() if texts else None
    if path is not None:
        for part in _parts(texts):
            _write(path, f'{head}"sample_ids": [{part}]}}\n'.encode())


def log_sample_order(digest: str) -> None:
    """Reports a digest of the order of samples that the code has computed itself."""
    text = _name(digest, "an order")
    path = metrics_file()
    if path is not None:
        _write(path, f'{{"sample_order": {text}}}\n'.encode())


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
