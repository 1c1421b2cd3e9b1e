"""The calls of the HPCFAIR paper's interface: `from pysabath.hpcfair import hpcfair_model, hpcfair_dataset`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Union

from .doing import Asset, asset, search, show
from .doing import run as run_recipe
from .errors import NotFound, SabathError, UsageError
from .files import open_file
from .program import ask
from .reading import Run


class _Kind:
    def __init__(self, kind: str) -> None:
        self._kind = kind

    def search(self, text: str) -> List[str]:
        """Returns the names of what a text finds."""
        return [one["name"] for one in search(text) if one["kind"] == self._kind]

    def _all(self) -> List[str]:
        return [one["name"] for one in ask(["list", "assets"])["documents"] if one["kind"] == self._kind]

    def get_metadata(self, name: str) -> Dict[str, Any]:
        """Returns title, description, files, supporting_files, isTunable and the document."""
        document = show(f"asset:{name}")
        scripts = document.get("scripts", [])
        return {
            "title": document.get("title", ""),
            "description": document.get("description", ""),
            "files": [one["path"] for one in document.get("files", [])],
            "supporting_files": [one["name"] for one in scripts],
            "isTunable": any(one.get("arguments") for one in scripts),
            "document": document,
        }

    def list_supporting_files(self, name: str) -> List[str]:
        """Returns the names of the asset's scripts."""
        return [one["name"] for one in show(f"asset:{name}").get("scripts", [])]

    @staticmethod
    def search_workflows(text: str) -> List[str]:
        """Returns the names of recipes that a text finds."""
        return [one["name"] for one in search(text) if one["kind"] == "recipe"]

    @staticmethod
    def convert(from_format: str, to_format: str, src_path: str, dest_path: str) -> str:
        """Writes the table or array of a file in another format: csv, tsv, json, parquet; npy, npz, hdf5. Returns its path."""
        return _convert(from_format, to_format, src_path, dest_path)


class _Datasets(_Kind):
    def list_datasets(self) -> List[str]:
        return self._all()

    def load_dataset(self, name: str) -> str:
        """Fetches the data set. Returns the path of its folder."""
        return str(asset(name).fetch())

    def apply(self, name: str, path: str, script: str, **arguments: Any) -> Dict[str, Any]:
        """Runs a script of the data set on its verified files. `path` is the folder that load_dataset gave.

        Returns `message`, `command` (as it was run), `path` (the folder of its outputs) and `run`. Raises SabathError where
        it fails.
        """
        if not Path(path).is_dir():
            raise NotFound(f"{path}: no such folder", "load_dataset returns it")
        words = ["fetch", name, "--apply", script]
        for key, value in arguments.items():
            words += ["--arg", f"{key}={value}"]
        applied = Run(Path(ask(words, accept=(0, 1))["applied"]["directory"]))
        _require_ok(applied, f"{name}: script {script}")
        command = next(stage["argv"] for stage in applied.record["stages"] if stage["name"] == script)
        return {"message": "Successfully processed", "command": command, "path": str(applied.folder / "outputs" / script), "run": applied}


class _Models(_Kind):
    def list_models(self) -> List[str]:
        return self._all()

    def load(self, name: str) -> Asset:
        """Returns the model: its document, and `fetch()` for its files."""
        return asset(name)

    def run(self, task: str, model: Union[str, Asset], path: str = "", log_dir: Optional[str] = None, **settings: Any) -> Run:
        """Runs a task of the recipe that has this model. Settings are the recipe's parameters.

        The recipe names its data sets; `path` must be a folder where it is given. Logs are copied into `log_dir`. Returns
        the run. Raises SabathError where it fails.
        """
        name = model.name if isinstance(model, Asset) else str(model)
        if path and not Path(path).exists():
            raise NotFound(f"{path}: no such folder", "load_dataset returns it")
        recipe = _recipe_of(name)
        made = run_recipe(recipe["name"], set=settings, options=_task_words(recipe, task))
        if log_dir is not None:
            for log in sorted(made.folder.glob("attempts/*/*/std*.log")):
                place = Path(log_dir) / log.parent.name
                place.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(log, place / log.name)
        _require_ok(made, f"{name}: {task}")
        return made


def _require_ok(run: Run, what: str) -> None:
    if run.state != "ok":
        raise SabathError(f"{what}: run {run.id} is {run.state}", f"run 'sabath logs {run.id}'")


def _recipe_of(model: str) -> Dict[str, Any]:
    for one in ask(["list", "recipes"])["documents"]:
        recipe = show(f"recipe:{one['name']}")
        if recipe.get("model") == model:
            return recipe
    raise NotFound(f"model {model}: no recipe has it", "search_workflows finds recipes")


def _task_words(recipe: Dict[str, Any], task: str) -> List[str]:
    """Stages without a task are the training; "inference" is also called "infer"."""
    tasks = {stage["task"] for stage in recipe.get("stages", []) if stage.get("task")}
    for name in (task, {"inference": "infer"}.get(task, "")):
        if name in tasks:
            return ["--task", name]
    if task in ("train", "training"):
        return []
    raise UsageError(f"recipe {recipe['name']}: has no task '{task}'", f"tasks are: {', '.join(['train', *sorted(tasks)])}")


def _convert(from_format: str, to_format: str, src_path: str, dest_path: str) -> str:
    source, target = Path(src_path), Path(dest_path)
    table: Dict[str, Callable[[Any], Any]] = {
        "csv": lambda frame: frame.to_csv(target, index=False),
        "tsv": lambda frame: frame.to_csv(target, index=False, sep="\t"),
        "json": lambda frame: frame.to_json(target, orient="records"),
        "parquet": lambda frame: frame.to_parquet(target),
    }
    arrays = ("npy", "npz", "hdf5")
    given, wanted = from_format.lower(), to_format.lower()
    if given in ("csv", "tsv", "parquet") and wanted in table:
        table[wanted](open_file(source, given))
    elif given in arrays and wanted in arrays:
        _write_arrays(_arrays_of(open_file(source, given)), wanted, target)
    else:
        raise UsageError(f"convert: from {from_format} to {to_format} is not known", "csv, tsv, parquet to csv, tsv, json, parquet; npy, npz, hdf5")
    return str(target)


def _arrays_of(opened: Any) -> Dict[str, Any]:
    """The arrays of a file by name: one of npy has the name "data"."""
    if hasattr(opened, "shape"):
        return {"data": opened}
    found: Dict[str, Any] = {}
    with opened:
        if hasattr(opened, "visititems"):
            opened.visititems(lambda name, one: found.update({name: one[()]}) if hasattr(one, "shape") else None)
        else:
            found.update((name, opened[name]) for name in opened.files)
    return found


def _write_arrays(arrays: Dict[str, Any], wanted: str, target: Path) -> None:
    import numpy

    if wanted == "npy":
        if len(arrays) != 1:
            raise UsageError(f"convert: npy has one array, the file has {len(arrays)}: {', '.join(arrays)}")
        with open(target, "wb") as file:
            numpy.save(file, next(iter(arrays.values())), allow_pickle=False)
    elif wanted == "npz":
        with open(target, "wb") as file:
            numpy.savez(file, **arrays)
    else:
        import h5py

        with h5py.File(target, "w") as file:
            for name, values in arrays.items():
                file[name] = values


hpcfair_model = _Models("model")
hpcfair_dataset = _Datasets("dataset")
