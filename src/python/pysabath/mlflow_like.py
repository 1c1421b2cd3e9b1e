"""The calls of mlflow that training codes make, which write metrics of sabath: `import pysabath.mlflow_like as mlflow`.

Nothing leaves the machine. Outside of a run nothing is written. Parameters are those of the recipe; they are not logged.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .logging import log as _log


class ActiveRun:
    """What `start_run` gives; a context manager."""

    def __enter__(self) -> "ActiveRun":
        return self

    def __exit__(self, *_: Any) -> None:
        return None


def log_metric(key: str, value: float, step: Optional[int] = None, **_: Any) -> None:
    """Records one value."""
    _log({key: value}, step=step)


def log_metrics(metrics: Mapping[str, float], step: Optional[int] = None, **_: Any) -> None:
    """Records values of one step."""
    _log(metrics, step=step)


def start_run(*_: Any, **__: Any) -> ActiveRun:
    """Does nothing: sabath has started the run."""
    return ActiveRun()


def end_run(*_: Any, **__: Any) -> None:
    """Does nothing."""


def log_param(key: str, value: Any, **_: Any) -> Any:
    """Does nothing: the recipe has the parameters. Returns `value`."""
    return value


def log_params(params: Mapping[str, Any], **_: Any) -> None:
    """Does nothing: the recipe has the parameters."""


def set_experiment(*_: Any, **__: Any) -> None:
    """Does nothing."""


def set_tracking_uri(*_: Any, **__: Any) -> None:
    """Does nothing."""


def set_tag(*_: Any, **__: Any) -> None:
    """Does nothing: `sabath run --tag` tags runs."""


def set_tags(*_: Any, **__: Any) -> None:
    """Does nothing."""


def log_artifact(*_: Any, **__: Any) -> None:
    """Does nothing: a recipe names its outputs."""


def autolog(*_: Any, **__: Any) -> None:
    """Does nothing: use `pysabath.callbacks`."""
