"""Callbacks that log metrics of training frameworks. A framework is imported when its callback is made.

    model.fit(..., callbacks=[pysabath.callbacks.keras()])
    lightning.Trainer(logger=pysabath.callbacks.lightning())
    transformers.Trainer(..., callbacks=[pysabath.callbacks.transformers()])
"""

from __future__ import annotations

import importlib
import time
from typing import Any, Dict, Mapping, Optional

from .errors import SabathError
from .logging import is_number, log


def _framework(*names: str) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise SabathError(f"the callback needs {names[0]}, which cannot be imported", f"pip install {names[0]}")


def _numbers(logs: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """What a framework gives, without values that are not numbers and without the position."""
    return {name: value for name, value in (logs or {}).items() if name not in ("epoch", "step") and is_number(value)}


def _whole_epoch(logs: Optional[Mapping[str, Any]]) -> Optional[int]:
    """The epoch where it is whole: within an epoch frameworks give a fraction."""
    epoch = (logs or {}).get("epoch")
    return int(epoch) if epoch is not None and float(epoch).is_integer() else None


def keras(each_batch: bool = False) -> Any:
    """Returns a keras.callbacks.Callback: metrics of each epoch with `epoch_time` (s), of each batch if asked for."""
    framework = _framework("keras", "tensorflow.keras")

    class SabathCallback(framework.callbacks.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self._step = 0
            self._began = time.perf_counter()

        def on_epoch_begin(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
            self._step += 1
            if each_batch and logs:
                log({f"batch/{name}": value for name, value in _numbers(logs).items()}, step=self._step)

        def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
            values: Dict[str, Any] = _numbers(logs)
            values["epoch_time"] = time.perf_counter() - self._began
            log(values, step=self._step, epoch=epoch + 1)

    return SabathCallback()


def lightning() -> Any:
    """Returns a logger of PyTorch Lightning."""
    loggers = _framework("lightning.pytorch.loggers", "pytorch_lightning.loggers")
    utilities = _framework("lightning.pytorch.utilities", "pytorch_lightning.utilities")

    class SabathLogger(loggers.Logger):  # type: ignore[misc, name-defined]
        @property
        def name(self) -> str:
            return "sabath"

        @property
        def version(self) -> str:
            return ""

        @utilities.rank_zero_only
        def log_hyperparams(self, params: Any, *_: Any, **__: Any) -> None:
            """The recipe has the parameters."""

        @utilities.rank_zero_only
        def log_metrics(self, metrics: Mapping[str, Any], step: Optional[int] = None) -> None:
            log(_numbers(metrics), step=step, epoch=_whole_epoch(metrics))

    return SabathLogger()


def transformers() -> Any:
    """Returns a transformers.TrainerCallback."""
    framework = _framework("transformers")

    class SabathCallback(framework.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **_: Any) -> None:
            if not state.is_world_process_zero:
                return
            log(_numbers(logs), step=state.global_step, epoch=_whole_epoch(logs))

    return SabathCallback()
