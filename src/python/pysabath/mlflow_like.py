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


def _do_nothing(*_: Any, **__: Any) -> None:
    """Does nothing: `sabath run --tag` tags runs, and a recipe names its outputs."""


set_experiment = set_tracking_uri = set_tag = set_tags = _do_nothing
log_artifact = log_artifacts = log_dict = log_figure = log_image = log_table = log_text = log_input = _do_nothing


def autolog(*_: Any, **__: Any) -> None:
    """Does nothing: use `pysabath.callbacks`."""
