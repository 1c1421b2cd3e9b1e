"""What the program does, asked from Python: search, show, compare, fetch, run, study, wait. Each needs the program."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from .errors import NotFound, SabathError, UsageError
from .files import open_file
from .home import home_folder
from .program import ask
from .reading import Run, run as run_named

Home = Optional[os.PathLike]
RunLike = Union[str, Run]


class Verdict:
    """The answer of a comparison. `result` is PASS, FAIL, INCONCLUSIVE or NOT-COMPARABLE; `document` is the whole answer."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document: Dict[str, Any] = dict(document)
        self.result: str = document["result"]
        self.reason: str = document.get("reason", "")
        self.performance: str = document.get("performance_verdict", "")
        self.performance_reason: str = document.get("performance_reason", "")
        self.required: str = document.get("required", "")
        self.first_divergence: str = document.get("first_divergence", "")
        self.likely_cause: str = document.get("likely_cause", "")
        self.differences: List[Dict[str, Any]] = document.get("differences", [])

    def __bool__(self) -> bool:
        """True only for PASS."""
        return self.result == "PASS"

    def __repr__(self) -> str:
        return f"<Verdict {self.result}: {self.reason}>"


class Asset:
    """A data set, model or tool of the catalog. `document` is its description."""

    def __init__(self, name: str, document: Mapping[str, Any], home: Home = None) -> None:
        self.name = name
        self.document: Dict[str, Any] = dict(document)
        self._home = home
        self._path: Optional[Path] = None

    @property
    def title(self) -> str:
        return self.document.get("title", "")

    @property
    def description(self) -> str:
        return self.document.get("description", "")

    @property
    def format(self) -> str:
        """Of its files, as the document states it: "hdf5", "csv"; may be empty."""
        return self.document.get("format", "")

    def fetch(self, offline: bool = False) -> Path:
        """Brings the verified files into the cache. Returns their folder, which is read-only."""
        words = ["fetch", self.name] + (["--offline"] if offline else [])
        [fetched] = ask(words, home=self._home)["fetched"]
        self._path = Path(fetched["path"])
        return self._path

    def open(self, file: Optional[str] = None) -> Any:
        """Fetches the asset and opens a file of it with what its format asks for. One file needs no name."""
        folder = self._path or self.fetch()
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / ".sabath-tree.json")
        if file is not None:
            if Path(file).is_absolute() or ".." in Path(file).parts:
                raise UsageError(f"asset {self.name}: '{file}' leads out of the asset")
            return open_file(folder / file, self.format)
        if len(files) != 1:
            names = ", ".join(str(path.relative_to(folder)) for path in files[:10])
            raise NotFound(f"asset {self.name}: has {len(files)} files", f"name one of: {names}")
        return open_file(files[0], self.format)

    def __repr__(self) -> str:
        return f"<Asset {self.name}: {self.title}>"


def _name(one: RunLike) -> str:
    return one.id if isinstance(one, Run) else one


def _home_of(given: Home, *some: RunLike) -> Home:
    """The home that is named, else that of the runs."""
    for one in some:
        if given is None and isinstance(one, Run):
            return one.folder.parent.parent
    return given


def search(text: str, home: Home = None) -> List[Dict[str, Any]]:
    """Returns documents of assets and recipes that a text finds: kind, name, version, title, path."""
    return ask(["search", text], home=home)["documents"]


def show(name: str, home: Home = None) -> Dict[str, Any]:
    """Returns the document of an asset or recipe, or the record of a run. Raises NotFound."""
    return ask(["show", name], home=home)


def asset(name: str, home: Home = None) -> Asset:
    """Returns an asset by its name. Raises NotFound."""
    return Asset(name, show(f"asset:{name}", home), home)


def compare(
    a: RunLike,
    b: RunLike,
    *,
    require: Optional[str] = None,
    across: Sequence[str] = (),
    better: Optional[str] = None,
    home: Home = None,
) -> Verdict:
    """Compares two runs or two groups of runs. `require` is bitwise, ulp or tolerance. Returns the verdict."""
    words = ["compare", _name(a), _name(b)]
    if require is not None:
        words += ["--require", require]
    if across:
        words += ["--across", ",".join(across)]
    if better is not None:
        words += ["--better", better]
    return Verdict(ask(words, home=_home_of(home, a, b), accept=(0, 1, 3, 4)))


def _settings(set: Optional[Mapping[str, Any]]) -> List[str]:
    words: List[str] = []
    for name, value in (set or {}).items():
        words += ["--set", f"{name}={_text(value)}"]
    return words


def _text(value: Any) -> str:
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        value = value.tolist()  # of NumPy
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, (dict, set, bytes)):
        raise UsageError(f"{value!r} is not the value of a parameter", "pass a number, a text, a bool or a list of these")
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return float.__repr__(value) if isinstance(value, float) else str(value)


def _swept(name: str, values: Sequence[Any]) -> str:
    """Values of a sweep: joined by commas, or a JSON array where they are empty, have commas or are lists."""
    if isinstance(values, (str, bytes)) or not len(values):
        raise UsageError(f"sweep: {name}={values!r} is not a list of values", "such as [16, 32]")
    texts = [_text(value) for value in values]
    if all(text and not set(text) & set(",;[]") for text in texts) and not any(isinstance(one, (list, tuple)) for one in values):
        return ",".join(texts)
    return json.dumps(texts, ensure_ascii=False)


def _requested(
    recipe: str,
    set: Optional[Mapping[str, Any]],
    tags: Iterable[str],
    options: Sequence[str],
) -> List[str]:
    words = ["run", recipe, *_settings(set)]
    for tag in tags:
        words += ["--tag", tag]
    return words + list(options)


def run(
    recipe: str,
    *,
    set: Optional[Mapping[str, Any]] = None,
    seed: Optional[int] = None,
    tags: Iterable[str] = (),
    options: Sequence[str] = (),
    home: Home = None,
) -> Run:
    """Runs a recipe on this machine and waits for it. Returns the run, also one that failed: see its `state`.

    `options` are further words of `sabath run`. Raises UsageError for a wrong name or value, SabathError where nothing was run.
    """
    words = _requested(recipe, set, tags, options)
    if seed is not None:
        words += ["--seed", str(seed)]
    [made] = _made(words, home)
    return made


def study(
    recipe: str,
    *,
    sweep: Optional[Mapping[str, Sequence[Any]]] = None,
    seeds: Union[None, str, Sequence[int]] = None,
    set: Optional[Mapping[str, Any]] = None,
    tags: Iterable[str] = (),
    jobs: Union[None, int, str] = None,
    options: Sequence[str] = (),
    home: Home = None,
) -> List[Run]:
    """Runs all combinations of `sweep` with all seeds ("1..3", or a list). Returns the runs in their order."""
    words = _requested(recipe, set, tags, options)
    for name, values in (sweep or {}).items():
        words += ["--sweep", f"{name}={_swept(name, values)}"]
    if seeds is not None:
        words += ["--seeds", seeds if isinstance(seeds, str) else ",".join(str(seed) for seed in seeds)]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    return _made(words, home)


def _made(words: Sequence[str], home: Home) -> List[Run]:
    answer = ask(words, home=home, accept=(0, 1, 12, 14))
    rows = answer.get("runs", [])
    if not rows:
        raise SabathError(f"sabath {' '.join(words)}: made no run")
    return [Run(Path(row["directory"])) for row in rows]


def wait(one: RunLike, home: Home = None) -> Run:
    """Waits until a run has ended. Returns it."""
    folder = home_folder(_home_of(home, one))
    ask(["wait", _name(one)], home=folder, accept=(0, 1, 12, 14))
    return run_named(_name(one), folder)
