"""Reads runs of sabath, asks the program for verdicts, and logs metrics from training code.

    import pysabath
    frame = pysabath.runs("recipe=supercell,state=ok").to_frame()
    loss = pysabath.read_run("supercell-20261127").metrics["train/loss"].values
    pysabath.log({"loss": 0.5}, step=1)
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from . import doing as _doing
from .doing import Asset, Verdict, asset, compare, search, show, study, wait
from .errors import NewerFormat, NotANumber, NotFound, ProgramMissing, SabathError, UsageError
from .files import open_file
from .logging import is_in_run, log, log_sample_ids, log_sample_order, log_seeds
from .reading import Metric, Metrics, Output, Run, Runs, runs
from .reading import run as read_run

__version__ = "0.1.0"

run = _doing.run

__all__ = [
    "Asset", "Metric", "Metrics", "NewerFormat", "NotANumber", "NotFound", "Output", "ProgramMissing", "Run", "Runs",
    "SabathError", "UsageError", "Verdict", "asset", "callbacks", "compare", "is_in_run", "log", "log_sample_ids",
    "log_sample_order", "log_seeds", "open_file", "read_run", "run", "runs", "search", "show", "study", "wait",
]


def __getattr__(name: str) -> Any:
    """Modules that few need are imported where they are named: `pysabath.callbacks`."""
    if name in ("callbacks", "hpcfair", "mlflow_like", "wandb_like"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _warn_of_predecessor() -> None:
    """The name 'sabath' in the package index is the Python SABATH, another program."""
    from importlib.machinery import PathFinder

    if "sabath" in sys.modules or PathFinder.find_spec("sabath") is not None:
        import warnings

        warnings.warn("the package 'sabath' here is the Python SABATH of UTK; this one is 'pysabath'", stacklevel=3)


_warn_of_predecessor()
