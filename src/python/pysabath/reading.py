"""Runs of a home as Python values. Nothing is written, and no program is needed."""

from __future__ import annotations

import json
import math
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

from . import selection as selections
from .errors import NotFound, SabathError, UsageError
from .home import catalog, home_folder, read_json, run_folders, statements
from .program import ask, find_program
from .series import exact_values, number_of, read_lines, read_series

if TYPE_CHECKING:
    import numpy
    import pandas

Number = Union[int, float]


class Metric:
    """A metric of one stage: its summary as attributes, its points as arrays.

    `stage`, `name`, `unit`, `better` and `points` are as in the record. `first`, `last`, `min`, `max`, `mean` and
    `median` are floats. `value` is the one that stands for the run, and `label` says which that is ("" for the last).
    """

    def __init__(self, summary: Mapping[str, Any], run: Path, series_file: Path) -> None:
        self._summary = dict(summary)
        self._run = run
        self._file = series_file
        self.stage: str = summary["stream"]
        self.name: str = summary["name"]
        self.unit: str = summary.get("unit", "")
        self.better: str = summary.get("better", "none")
        self.is_performance: bool = bool(summary.get("performance", False))
        self.points: int = int(summary.get("points", 0))
        self.not_finite: int = int(summary.get("not_finite", 0))
        for key in ("first", "last", "min", "max", "mean", "median"):
            setattr(self, key, float(number_of(summary.get(key, math.nan))))

    first: float
    last: float
    min: float
    max: float
    mean: float
    median: float

    @property
    def label(self) -> str:
        """Which value stands for the run: "median", "best", "mean of last N"; "" is the last one."""
        return "median" if self.is_performance else str(self._summary.get("judge", ""))

    @property
    def value(self) -> float:
        """The value that stands for the run in tables and tests."""
        if self.is_performance:
            return self.median
        return float(number_of(self._summary["judged"])) if "judged" in self._summary else self.last

    @cached_property
    def series(self) -> "Dict[str, numpy.ndarray]":
        """All points: arrays `step`, `epoch`, `rank`, `time_s` (seconds), `value`, and `rest` where there is one."""
        return read_series(self._run, self._file, self.stage, self.name)

    @cached_property
    def step(self) -> "numpy.ndarray":
        return self._column("step")

    @cached_property
    def values(self) -> "numpy.ndarray":
        """The reported values, float64, shape (points,), with their bits."""
        return self._column("value")

    def _column(self, name: str) -> "numpy.ndarray":
        """One column, and no other is read."""
        if "series" in self.__dict__:
            return self.series[name]
        return read_series(self._run, self._file, self.stage, self.name, (name,))[name]

    @property
    def exact(self) -> List[Number]:
        """The values with all digits of whole numbers."""
        return exact_values(self.series)

    @property
    def whole(self) -> Dict[str, int]:
        """All digits of `first`, `last`, `min` and `max`, of those that are whole numbers which no float holds."""
        if "rest" not in self.series:
            return {}
        exact, rests = self.exact, self.series["rest"].tolist()
        places = {"first": 0, "last": len(exact) - 1}
        finite = [i for i, one in enumerate(exact) if isinstance(one, int) or math.isfinite(one)]
        if finite:
            places["min"] = min(finite, key=lambda i: exact[i])
            places["max"] = max(finite, key=lambda i: exact[i])
        return {key: int(exact[i]) for key, i in places.items() if rests[i]}

    def __array__(self, dtype: Any = None, copy: Any = None) -> "numpy.ndarray":
        values = self.values
        return values if dtype is None else values.astype(dtype)

    def __len__(self) -> int:
        return self.points

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit not in ("", "1") else ""
        return f"<Metric {self.stage}/{self.name} {self.value!r}{unit}, {self.points} points>"


class Metrics(Mapping[str, Metric]):
    """The metrics of a run by `STAGE/NAME`. `NAME` alone works where one stage has it."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._all = {f"{metric.stage}/{metric.name}": metric for metric in metrics}

    def __getitem__(self, name: str) -> Metric:
        if name in self._all:
            return self._all[name]
        found = [metric for metric in self._all.values() if metric.name == name]
        if len(found) == 1:
            return found[0]
        known = ", ".join(self._all) or "none"
        if found:
            raise KeyError(f"'{name}' is a metric of several stages; name one of: {known}")
        raise KeyError(f"no metric is called '{name}'; metrics are: {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<Metrics {', '.join(self._all)}>"


class Output:
    """A file or folder that a stage made. `path` is where its bytes are; `open()` reads it."""

    def __init__(self, entry: Mapping[str, Any], run: Path) -> None:
        self.stage: str = entry["stage"]
        self.name: str = entry["path"]
        self.size_bytes: int = entry.get("size_bytes", 0)
        self.digest: str = entry.get("digest", "")
        self.path: Path = run / "outputs" / self.stage / self.name
        if os.path.isabs(self.name) or ".." in self.path.parts:
            raise UsageError(f"output '{self.name}': leads out of its run")

    def open(self) -> Any:
        """Opens the output with what its suffix asks for: see `pysabath.open_file`."""
        from .files import open_file

        return open_file(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<Output {self.stage}/{self.name}, {self.size_bytes} bytes>"


class Run:
    """A run: what its record says, its metrics and its outputs. Records are read when they are first needed."""

    def __init__(self, folder: Path, row: Optional[Mapping[str, Any]] = None) -> None:
        self.folder = folder
        self.id: str = folder.name
        self._row = row

    @cached_property
    def record(self) -> Dict[str, Any]:
        """The document record.json as it is. Raises NotFound for a run that has not ended."""
        try:
            return read_json(self.folder / "record.json")
        except NotFound:
            raise NotFound(f"run {self.id}: has no record", "a run has one when it has ended") from None

    @cached_property
    def _collected(self) -> Optional[Dict[str, Any]]:
        """The newest later collection of metrics."""
        numbers = [int(path.parent.name) for path in self.folder.glob("collect/*/summary.json") if path.parent.name.isdigit()]
        if not numbers:
            return None
        return {**read_json(self.folder / "collect" / str(max(numbers)) / "summary.json"), "number": max(numbers)}

    def _value(self, column: str, key: str, default: Any = "") -> Any:
        return self._row[column] if self._row is not None else self.record.get(key, default)

    @property
    def recipe(self) -> str:
        return self._value("recipe", "recipe_name")

    @property
    def state(self) -> str:
        """`ok`, `failed`, `stopped`, `interrupted`, `lost`, `imported`; of a run without a record what its status file says."""
        if self._row is not None:
            return self._row["state"]
        if (self.folder / "record.json").is_file():
            return self.record["state"]
        try:
            return read_json(self.folder / "status.json").get("state", "unknown")
        except NotFound:
            return "unknown"

    @property
    def created(self) -> str:
        """RFC 3339, UTC."""
        return self._value("created", "created")

    @property
    def wall_s(self) -> float:
        """Duration in seconds."""
        return float(self._value("wall_s", "wall_s", 0.0))

    @property
    def seed(self) -> Optional[int]:
        if self._row is not None:
            return int(self._row["seed"]) if self._row["seed"] else None
        return self.record.get("seed", {}).get("value")

    @cached_property
    def said(self) -> List[Dict[str, Any]]:
        """Tags and notes that were given after the run's end."""
        return statements(self.folder)

    @property
    def tags(self) -> List[str]:
        tags = list(self.record.get("tags", []))
        for one in self.said:
            if "tag" in one and one["tag"] not in tags:
                tags.append(one["tag"])
            elif "untag" in one and one["untag"] in tags:
                tags.remove(one["untag"])
        return tags

    @property
    def notes(self) -> List[str]:
        return [one["note"] for one in self.said if "note" in one]

    @property
    def parameters(self) -> Dict[str, Any]:
        return self.record["parameters"]

    @property
    def facets(self) -> Dict[str, Dict[str, str]]:
        """What the run depended on, by facet and item: `run.facets["host"]["cpu.model"]`."""
        return {one["name"]: dict(one["items"]) for one in self.record.get("facets", [])}

    @cached_property
    def metrics(self) -> Metrics:
        """Metrics of a finished run. Raises NotFound before: `live_points` has what was reported so far."""
        source, folder = self.record, self.folder
        if self._collected is not None:
            source, folder = self._collected, self.folder / "collect" / str(self._collected["number"])
        return Metrics([Metric(one, self.folder, folder / "series.h5") for one in source.get("metrics", [])])

    def live_points(self) -> Dict[str, List[Tuple[Optional[int], float]]]:
        """Returns steps and values by STAGE/NAME, as they were reported so far: read from JSON lines, also during a run."""
        return read_lines(self.folder)

    @property
    def outputs(self) -> List[Output]:
        return [Output(one, self.folder) for one in self.record.get("outputs", [])]

    def output(self, name: str) -> Output:
        """Returns the output NAME or STAGE/NAME. Raises NotFound."""
        found = [one for one in self.outputs if name in (one.name, f"{one.stage}/{one.name}")]
        if len(found) == 1:
            return found[0]
        known = ", ".join(f"{one.stage}/{one.name}" for one in self.outputs) or "none"
        raise NotFound(f"run {self.id}: '{name}' is {'several outputs' if found else 'no output'}", f"outputs are: {known}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and other.folder == self.folder

    def __hash__(self) -> int:
        return hash(self.folder)

    def __repr__(self) -> str:
        return f"<Run {self.id} {self.state}>"


class Runs(Sequence[Run]):
    """Runs, the newest first."""

    def __init__(self, found: List[Run], home: Path) -> None:
        self._runs = found
        self._home = home

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> "Runs": ...
    def __getitem__(self, at: Union[int, slice]) -> "Union[Run, Runs]":
        return Runs(self._runs[at], self._home) if isinstance(at, slice) else self._runs[at]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Runs: {len(self)} of {self._home}>"

    def to_records(self) -> List[Dict[str, Any]]:
        """Returns a dictionary for each run: its row, `params.NAME` and `metrics.STAGE/NAME` (the value that stands for it)."""
        from .frames import rows_of

        return rows_of(self._runs, self._home)

    def to_frame(self) -> "pandas.DataFrame":
        """Returns the same as a pandas frame with the ids as index. Raises SabathError without pandas."""
        from .frames import frame_of

        return frame_of(self._runs, self._home)


def run(name: str, home: Optional[os.PathLike] = None) -> Run:
    """Returns one run by its id or the unique beginning of it. Other names (`@last`) are the program's. Raises NotFound."""
    folder = home_folder(home)
    folders = run_folders(folder)
    if name in folders:
        return Run(folders[name])
    begin_so = [one for one in folders if one.startswith(name)] if name and "=" not in name and "@" not in name else []
    if len(begin_so) == 1:
        return Run(folders[begin_so[0]])
    if len(begin_so) > 1:
        raise UsageError(f"run '{name}': {len(begin_so)} ids begin so", "write more of the id")
    found = runs(name, home) if "=" in name or "@" in name else Runs([], folder)
    if len(found) != 1:
        raise NotFound(f"run '{name}': {len(found)} runs are called that", "runs() lists what there is")
    return found[0]


def runs(selection: str = "", home: Optional[os.PathLike] = None) -> Runs:
    """Returns the runs that a selection names, the newest first; "" names all.

    `recipe=supercell,seed=1` is read here: terms `key=value`, joined by commas, for recipe, study, user, id, host,
    state, tag, seed and parameters. Anything else is handed to the program. Raises UsageError for an unknown name,
    ProgramMissing where the program is needed and not there.
    """
    folder = home_folder(home)
    terms = selections.simple_terms(selection)
    folders = run_folders(folder)
    if terms is not None:
        with catalog(folder) as connection:
            index = Index(connection, folders)
            if selections.check_names(terms, index.parameter_names, index.metric_names):
                found = index.select(terms)
                if found or not terms or find_program() is None:
                    return Runs(found, folder)
    # What finds nothing is asked of the program: it knows whether a recipe, study or state is called that.
    if find_program() is None:
        from .program import require_program

        require_program(f"the selection '{selection}'")
    answer = ask(["list", "runs", selection], home=folder)
    with catalog(folder) as connection:
        index = Index(connection, folders)
        named = [index.run(row["id"]) for row in answer["runs"]]
    return Runs([one for one in named if one is not None], folder)


class Index:
    """Rows of the catalog, and records of runs that it does not know yet."""

    def __init__(self, connection: Any, folders: Dict[str, Path]) -> None:
        self._connection = connection
        self._folders = folders
        self._rows: Dict[str, Dict[str, Any]] = self._read_rows() if connection is not None else {}
        self._unknown = [name for name in folders if name not in self._rows]

    def _read_rows(self) -> Dict[str, Dict[str, Any]]:
        columns = "n, id, recipe, state, created, started, ended, wall_s, node, user, seed, study, placed"
        cursor = self._connection.execute(f"select {columns} from run")
        names = [one[0] for one in cursor.description]
        return {row[1]: dict(zip(names, row)) for row in cursor if row[1] in self._folders}

    def _texts(self, run: Run) -> Tuple[Dict[str, Any], List[str], Dict[str, str]]:
        """Row, tags and parameters of a run that the catalog does not know."""
        try:
            record = run.record
        except NotFound:
            return {"id": run.id, "state": run.state, "recipe": run.id.rsplit("-", 3)[0], "seed": "", "created": "",
                    "node": "", "user": "", "study": "", "wall_s": 0.0, "started": "", "ended": ""}, [], {}
        row = {
            "id": run.id, "recipe": record["recipe_name"], "state": record["state"], "created": record["created"],
            "started": record["started"], "ended": record["ended"], "wall_s": record["wall_s"],
            "node": (record.get("hosts") or [{}])[0].get("node", ""), "user": record.get("user", ""),
            "seed": str(record.get("seed", {}).get("value", "")), "study": record.get("study_id", ""),
        }
        return row, run.tags, {name: text_of(value) for name, value in record["parameters"].items()}

    def parameter_names(self) -> List[str]:
        names = [row[0] for row in self._connection.execute("select distinct name from run_parameter")] if self._connection else []
        for name in self._unknown:
            names.extend(self._texts(Run(self._folders[name]))[2])
        return names

    def metric_names(self) -> List[str]:
        if self._connection is None:
            return [metric.name for name in self._unknown for metric in _metrics_of(Run(self._folders[name]))]
        return [row[0] for row in self._connection.execute("select distinct name from run_metric")]

    def run(self, name: str) -> Optional[Run]:
        return Run(self._folders[name], self._rows.get(name)) if name in self._folders else None

    def select(self, terms: selections.Terms) -> List[Run]:
        tags: Dict[int, List[str]] = {}
        parameters: Dict[int, Dict[str, str]] = {}
        if self._connection is not None:
            if any(key == "tag" for key, _ in terms):
                for number, tag in self._connection.execute("select run, tag from run_tag"):
                    tags.setdefault(number, []).append(tag)
            wanted = [key for key, _ in terms if key not in selections.WORDS and key not in ("tag", "seed")]
            for key in wanted:
                for number, value in self._connection.execute("select run, value from run_parameter where name = ?", (key,)):
                    parameters.setdefault(number, {})[key] = value
        found: List[Tuple[Tuple[str, str, str], Run]] = []
        for name, row in self._rows.items():
            if selections.matches(terms, row, tags.get(row["n"], ()), parameters.get(row["n"], {})):
                found.append(((row["placed"] or row["created"], row["created"], name), Run(self._folders[name], row)))
        for name in self._unknown:
            run = Run(self._folders[name])
            row, run_tags, run_parameters = self._texts(run)
            if selections.matches(terms, row, run_tags, run_parameters):
                found.append(((row["created"], row["created"], name), run))
        found.sort(key=lambda one: one[0], reverse=True)
        return [run for _, run in found]


def _metrics_of(run: Run) -> List[Metric]:
    try:
        return list(run.metrics.values())
    except SabathError:
        return []


def text_of(value: Any) -> str:
    """Returns a parameter's value as the catalog writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ",".join(text_of(item) for item in value)
    return json.dumps(value)
