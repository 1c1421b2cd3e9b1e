"""The calls of the HPCFAIR paper's interface: `from pysabath.hpcfair import hpcfair_model, hpcfair_dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

from .doing import asset, search, show
from .doing import run as run_recipe
from .errors import NotFound
from .program import ask


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
        return {
            "title": document.get("title", ""),
            "description": document.get("description", ""),
            "files": [one["path"] for one in document.get("files", [])],
            "supporting_files": self.list_supporting_files(name),
            "isTunable": bool(document.get("parameters")),
            "document": document,
        }

    def list_supporting_files(self, name: str) -> List[str]:
        """Returns the names of the asset's scripts."""
        return [one["name"] for one in show(f"asset:{name}").get("scripts", [])]


class _Datasets(_Kind):
    def list_datasets(self) -> List[str]:
        return self._all()

    def load_dataset(self, name: str) -> str:
        """Fetches the data set. Returns the path of its folder."""
        return str(asset(name).fetch())

    def apply(self, name: str, path: str, script: str, **arguments: Any) -> Dict[str, Any]:
        """Runs a script of the data set on its verified files. `path` is the folder that load_dataset gave."""
        if not Path(path).is_dir():
            raise NotFound(f"{path}: no such folder", "load_dataset returns it")
        words = ["fetch", name, "--apply", script]
        for key, value in arguments.items():
            words += ["--set", f"{key}={value}"]
        return ask(words)


class _Models(_Kind):
    def list_models(self) -> List[str]:
        return self._all()

    def load(self, name: str) -> Dict[str, Any]:
        """Returns the model's document."""
        return show(f"asset:{name}")

    def search_workflows(self, text: str) -> List[str]:
        """Returns the names of recipes that a text finds."""
        return [one["name"] for one in search(text) if one["kind"] == "recipe"]

    def run(self, task: str, model: Any, path: str = "", **settings: Any) -> Any:
        """Runs the task of the recipe whose model it is. Settings are the recipe's parameters. Returns the run."""
        name = model["name"] if isinstance(model, dict) else model
        recipes = [one["name"] for one in ask(["list", "recipes"])["documents"]]
        found = [one for one in recipes if show(f"recipe:{one}").get("model") == name]
        if not found:
            raise NotFound(f"model {name}: no recipe runs it", "search_workflows finds recipes")
        settings.pop("log_dir", None)  # logs lie in the folder of the run
        tasks = show(f"recipe:{found[0]}").get("tasks", {})
        options = ["--task", task] if task in tasks else []
        return run_recipe(found[0], set=settings, options=options)


hpcfair_model = _Models("model")
hpcfair_dataset = _Datasets("dataset")
