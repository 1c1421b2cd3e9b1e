"""The calls of wandb that training codes make, which write metrics of sabath: `import pysabath.wandb_like as wandb`.

Nothing leaves the machine. Outside of a run nothing is written.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from .logging import is_number
from .logging import log as _log


class _Config(Dict[str, Any]):
    """Parameters, as attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *some: Any, allow_val_change: bool = True, **named: Any) -> None:  # type: ignore[override]
        super().update(*some, **named)


class Run:
    """What `init` returns; a context manager."""

    def __init__(self, config: Optional[Mapping[str, Any]]) -> None:
        self.config = _Config(config or {})
        self.summary: Dict[str, Any] = {}
        self._step = 0

    def log(self, data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None) -> None:
        """Records the numbers of `data`; nested names are joined with '/'. Other values, such as images, are left out."""
        if step is not None:
            self._step = int(step)
        values = dict(_numbers(data))
        _log(values, step=self._step)
        self.summary.update(values)
        if step is None and commit is not False:
            self._step += 1

    def watch(self, *_: Any, **__: Any) -> None:
        """Does nothing."""

    def finish(self, *_: Any, **__: Any) -> None:
        """Does nothing: each line is written when it is logged."""

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.finish()


def _numbers(data: Mapping[str, Any], before: str = "") -> Any:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{before}{name}/")
        elif is_number(value):
            yield before + name, value


run: Optional[Run] = None
config = _Config()
summary: Dict[str, Any] = {}


def init(*_: Any, config: Optional[Mapping[str, Any]] = None, **__: Any) -> Run:
    """Begins to log. Project, entity and name are sabath's own affair and are ignored."""
    global run, summary
    run = Run(config)
    globals()["config"] = run.config
    summary = run.summary
    return run


def log(data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None, **_: Any) -> None:
    """Records the numbers of `data`. Without `step` each call is the next step."""
    (run or init()).log(data, step=step, commit=commit)


def watch(*_: Any, **__: Any) -> None:
    """Does nothing."""


def finish(*_: Any, **__: Any) -> None:
    """Ends logging."""
    global run
    run = None


class _LeftOut:
    """An image, table or other value that is not a number: metrics are numbers, and files are outputs of the recipe."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


Image = Table = Histogram = Audio = Video = Html = Artifact = _LeftOut


def _do_nothing(*_: Any, **__: Any) -> None:
    """Does nothing."""


login = define_metric = save = alert = log_artifact = _do_nothing
