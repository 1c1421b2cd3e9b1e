"""Logging from training code: `log({"loss": 0.5}, step=1)` appends a line to $SABATH_METRICS.

Outside of a run nothing is written. A line is one write to a file that is opened for appending. So threads and forked
processes may log at once, and a line that was written outlives the process.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import threading
from typing import Any, Dict, Iterable, Mapping, Optional, Union

from .errors import UsageError

Value = Union[int, float]

_RESERVED = ("step", "epoch", "time", "rank", "seeds", "sample_ids", "sample_order")
_lock = threading.Lock()
_open: Dict[str, int] = {}
_owner = os.getpid()


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
    Outside of a run it does nothing. Raises UsageError for a value that is no number, OSError where the file cannot
    be written.
    """
    if not isinstance(metrics, Mapping):
        raise UsageError(f"log: {type(metrics).__name__} is no mapping of names to numbers", 'such as log({"loss": 0.5})')
    line: Dict[str, Any] = {}
    if step is not None:
        line["step"] = _whole("step", step)
    if epoch is not None:
        line["epoch"] = _whole("epoch", epoch)
    if time_s is not None:
        line["time_s"] = _number("time_s", time_s)
    for name, value in metrics.items():
        if not isinstance(name, str) or not name:
            raise UsageError(f"log: {name!r} is no name of a metric")
        if name in _RESERVED:
            raise UsageError(f"log: '{name}' is not the name of a metric", "pass step= and epoch=")
        line[name] = _number(name, value)
    if metrics:
        _append(line)


def _whole(name: str, value: Any) -> int:
    number = _number(name, value)
    if isinstance(number, str) or number != int(number):
        raise UsageError(f"log: {name}={value!r} is no whole number")
    return int(number)


def _number(name: str, value: Any) -> Union[int, float, str]:
    """The number as JSON: what is not finite is a text."""
    if isinstance(value, bool):
        raise UsageError(f"log: {name}={value!r} is no number")
    if not isinstance(value, (int, float)):
        value = _scalar(name, value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _scalar(name: str, value: Any) -> Value:
    """A number of NumPy, or an array or tensor of one element."""
    if not isinstance(value, numbers.Number) and not hasattr(value, "item"):
        raise UsageError(f"log: {name}={value!r} is no number")
    try:
        item = value.item() if hasattr(value, "item") else value
    except (ValueError, RuntimeError, TypeError) as error:
        raise UsageError(f"log: {name} has more than one element", "log a mean or a sum") from error
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        if isinstance(item, numbers.Real) and not isinstance(item, bool):
            return float(item)
        raise UsageError(f"log: {name}={value!r} is no number")
    return item


def _descriptor(path: str) -> int:
    """An open file for appending, of this process: a forked one opens its own."""
    global _owner
    with _lock:
        if _owner != os.getpid():
            _open.clear()
            _owner = os.getpid()
        if path not in _open:
            _open[path] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        return _open[path]


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may hold the old one, which is not in this process


os.register_at_fork(after_in_child=_after_fork)


def _write(path: str, line: bytes) -> None:
    descriptor = _descriptor(path)
    written = os.write(descriptor, line)
    if written != len(line):
        # A disk that fills up takes part of a line. End it, so that the next one is read.
        try:
            os.write(descriptor, b"\n")
        finally:
            raise OSError(28, "no space left for a line of metrics", path)


def log_seeds(**seeds: int) -> None:
    """Reports seeds that the code uses, by library: `log_seeds(numpy=7, torch=7)`. They are recorded and compared."""
    if seeds:
        _append({"seeds": {name: _whole(name, value) for name, value in seeds.items()}})


def log_sample_ids(ids: Iterable[Any], epoch: Optional[int] = None) -> None:
    """Reports the order of samples: whole numbers, or texts without control characters. Its digest is compared."""
    line: Dict[str, Any] = {} if epoch is None else {"epoch": _whole("epoch", epoch)}
    line["sample_ids"] = [one if isinstance(one, str) else _whole("sample id", one) for one in ids]
    _append(line)


def metrics_file() -> Optional[str]:
    """Returns the file that lines are appended to: one for each rank of a parallel program. None outside of a run."""
    own = os.environ.get("SABATH_METRICS")
    folder = os.environ.get("SABATH_METRICS_DIR")
    if not own or not folder or "SABATH_RANK" in os.environ:
        return own or None
    for rank, size in _RANKS:
        if rank in os.environ and os.environ.get(size, "1") != "1":
            return os.path.join(folder, f"metrics-{os.environ[rank]}.jsonl")
    return own


_RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))


def _append(line: Mapping[str, Any]) -> None:
    path = metrics_file()
    if path is not None:
        _write(path, (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))
