"""The home of sabath: its runs, read from the catalog where it is there, and from the folders of runs otherwise."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from .errors import NewerFormat, NotFound

if TYPE_CHECKING:
    import sqlite3

CATALOG_VERSIONS = range(8, 10)  # of `pragma user_version`; 8 was the first with the value that stands for a metric
RECORD_SCHEMA = 1


def home_folder(home: Optional[os.PathLike] = None) -> Path:
    """Returns the folder of the home: `home`, $SABATH_HOME, or ~/.local/share/sabath. Raises NotFound without one."""
    if home is not None:
        folder = Path(home)
    elif os.environ.get("SABATH_HOME"):
        folder = Path(os.environ["SABATH_HOME"])
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "sabath"
    if not folder.is_dir():
        raise NotFound(f"{folder}: no home of sabath is there", "set SABATH_HOME, or pass home=")
    return folder


def run_folders(home: Path) -> Dict[str, Path]:
    """Returns the folders of runs and archived runs by id."""
    found: Dict[str, Path] = {}
    for part in ("archive", "runs"):
        try:
            with os.scandir(home / part) as entries:
                found.update((one.name, Path(one.path)) for one in entries if not one.name.startswith(".") and one.is_dir())
        except FileNotFoundError:
            continue
    return found


def read_json(path: Path) -> Any:
    """Returns the values of a JSON file. Raises NotFound without the file, and NewerFormat for a newer schema."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"{path}: no such file") from error
    schema = value.get("schema", 1) if isinstance(value, dict) else 1
    if schema != RECORD_SCHEMA:
        raise NewerFormat(f"{path}: has schema {schema}; this package reads {RECORD_SCHEMA}", "install a newer pysabath")
    return value


@contextmanager
def catalog(home: Path) -> "Iterator[Optional[sqlite3.Connection]]":
    """Opens the catalog read-only. Gives None where there is none, or an older one. Raises NewerFormat for a newer one."""
    path = home / "catalog.db"
    if not path.is_file():
        yield None
        return
    connection = _open(path)
    try:
        version = connection.execute("pragma user_version").fetchone()[0]
        if version >= CATALOG_VERSIONS.stop:
            raise NewerFormat(
                f"{path}: has version {version}; this package reads up to {CATALOG_VERSIONS.stop - 1}",
                "install a newer pysabath",
            )
        yield connection if version in CATALOG_VERSIONS else None
    finally:
        connection.close()


def _open(path: Path) -> "sqlite3.Connection":
    import sqlite3

    uri = path.resolve().as_uri()
    connection = sqlite3.connect(uri + "?mode=ro", uri=True)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK):
            raise
        # A folder that this user cannot write to: without a write-ahead log nothing else has it open.
        connection.close()
        connection = sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True)
    return connection


def statements(folder: Path) -> List[Dict[str, Any]]:
    """Returns what was said of a run after its end, in its order: docs/formats/said.md."""
    said = folder / "said"
    if not said.is_dir():
        return []
    numbered = sorted((int(path.stem), path) for path in said.glob("*.json") if path.stem.isdigit())
    found = []
    for _, path in numbered:
        try:
            found.append(read_json(path))
        except (ValueError, NotFound):
            continue
    return found
