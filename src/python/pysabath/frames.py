"""Runs as a table: a row for each run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .errors import NotFound, SabathError
from .home import catalog

if TYPE_CHECKING:
    import pandas

    from .reading import Run

PARTS = ("recipe", "state", "created", "started", "ended", "wall_s", "node", "user", "study")


def rows_of(found: "List[Run]", home: Path) -> List[Dict[str, Any]]:
    """Returns a dictionary for each run. Keys: id, recipe, state, ..., seed, tags, `params.NAME`, `metrics.STAGE/NAME`."""
    indexed: Dict[int, Dict[str, Any]] = {}
    rows: List[Dict[str, Any]] = []
    for run in found:
        row = _row(run)
        rows.append(row)
        if run._row is not None:
            indexed[run._row["n"]] = row
        else:
            _add_from_record(run, row)
    if indexed:
        _add_from_catalog(home, indexed, {run._row["n"]: run for run in found if run._row is not None})
    return rows


def _row(run: "Run") -> Dict[str, Any]:
    source = run._row if run._row is not None else {}
    row: Dict[str, Any] = {"id": run.id}
    row.update((part, source.get(part, "")) for part in PARTS)
    row["seed"] = run.seed if source else None
    row["tags"] = []
    return row


def _add_from_record(run: "Run", row: Dict[str, Any]) -> None:
    row["state"] = run.state
    try:
        record = run.record
    except NotFound:
        return
    row.update(recipe=record["recipe_name"], created=record["created"], started=record["started"], ended=record["ended"])
    row.update(wall_s=record["wall_s"], user=record.get("user", ""), study=record.get("study_id", ""), seed=run.seed)
    row["node"] = (record.get("hosts") or [{}])[0].get("node", "")
    row["tags"] = run.tags
    row.update((f"params.{name}", value) for name, value in run.parameters.items())
    row.update((f"metrics.{name}", metric.value) for name, metric in run.metrics.items())


def _add_from_catalog(home: Path, rows: Dict[int, Dict[str, Any]], runs: "Dict[int, Run]") -> None:
    with catalog(home) as connection:
        if connection is None:
            raise SabathError(f"{home}: the catalog is gone since the runs were listed", "list them again")
        for number, tag in connection.execute("select run, tag from run_tag order by run, tag"):
            if number in rows:
                rows[number]["tags"].append(tag)
        kinds = _KindsOfParameters(connection, runs)
        for number, name, value in connection.execute("select run, name, value from run_parameter"):
            if number in rows:
                rows[number][f"params.{name}"] = kinds.value(number, name, value)
        query = "select run, stream, name, shown, not_finite from run_metric"
        for number, stage, name, shown, not_finite in connection.execute(query):
            if number not in rows:
                continue
            value = float(shown) if shown is not None else math.nan
            if shown is None and not_finite and runs[number].folder.is_dir():
                value = _value_of(runs[number], f"{stage}/{name}")
            rows[number][f"metrics.{stage}/{name}"] = value


def _value_of(run: "Run", name: str) -> float:
    """The catalog has no number that is not finite: the record knows which it is."""
    try:
        return run.metrics[name].value
    except (KeyError, SabathError):
        return math.nan


class _KindsOfParameters:
    """Types of parameters. The catalog has texts; runs of one recipe document have parameters of the same types."""

    def __init__(self, connection: Any, runs: "Dict[int, Run]") -> None:
        self._runs = runs
        self._recipe = dict(connection.execute("select n, recipe_digest || recipe from run"))
        self._kinds: Dict[str, Dict[str, str]] = {}

    def value(self, number: int, name: str, text: str) -> Any:
        kinds = self._kinds.setdefault(self._recipe[number], {})
        if name not in kinds:
            own = self._parameters(number)
            for other, value in own.items():
                kind = _kind_of(value)
                if kind is not None:
                    kinds.setdefault(other, kind)
            if name in own:
                return own[name]
        return _read(text, kinds.get(name, "str"))

    def _parameters(self, number: int) -> Dict[str, Any]:
        try:
            return self._runs[number].parameters
        except (SabathError, KeyError):
            return {}


def _kind_of(value: Any) -> Optional[str]:
    """"int", "list of str"; None for an empty list, whose items may be anything."""
    if isinstance(value, list):
        return f"list of {type(value[0]).__name__}" if value else None
    return type(value).__name__


def _read(text: str, kind: str) -> Any:
    if kind.startswith("list of "):
        return [_read(item, kind[len("list of ") :]) for item in text.split(",")] if text else []
    if kind == "bool":
        return text == "true"
    try:
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return text


def frame_of(found: "List[Run]", home: Path) -> "pandas.DataFrame":
    """Returns a pandas frame with the ids as index. Raises SabathError without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise SabathError("to_frame() needs pandas, which cannot be imported", "pip install pandas, or use to_records()") from error
    rows = rows_of(found, home)
    frame = pandas.DataFrame.from_records(rows) if rows else pandas.DataFrame(columns=["id", *PARTS, "seed", "tags"])
    if "seed" in frame:
        frame["seed"] = frame["seed"].astype("UInt64" if _fits_unsigned(rows) else "object")
    return frame.set_index("id")


def _fits_unsigned(rows: List[Dict[str, Any]]) -> bool:
    return all(row["seed"] is None or 0 <= row["seed"] < 2**64 for row in rows)
