"""Selections of the form `key=value,key=value`, read here. Anything else is handed to the program."""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from .errors import UsageError

# What a run is asked for by these words; each is a text.
WORDS: Dict[str, str] = {
    "recipe": "recipe",
    "study": "study",
    "user": "user",
    "id": "id",
    "host": "node",
    "node": "node",
    "status": "state",
    "state": "state",
}
# Words that only the program knows. A parameter with such a name keeps the program's meaning.
_OTHER_WORDS = frozenset("task tag message note seed environment since until created started ended wall".split())
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=[^\s'\"()<>!~*@,=]+\Z")
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")

Terms = List[Tuple[str, str]]


def simple_terms(text: str) -> Optional[Terms]:
    """Returns the terms of a selection that is read here, or None for one that needs the program."""
    terms: Terms = []
    for part in text.split(",") if text else []:
        if not _SIMPLE.match(part) or ".." in part or " " in part:
            return None
        key, value = part.split("=", 1)
        if key.startswith(("last.", "best.", "param.", "metric.", "run.")) or key.endswith(
            (".ne", ".lt", ".le", ".gt", ".ge", ".like")
        ):
            return None
        if key in _OTHER_WORDS and key not in ("tag", "seed"):
            return None
        terms.append((key, value))
    return terms


def _whole(text: str) -> Optional[int]:
    return int(text) if _WHOLE.match(text) else None


def _number(text: str) -> Optional[float]:
    if not re.match(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z", text):
        return None
    return float(text)


def same_value(stored: str, asked: str) -> bool:
    """Is a parameter's value the one that is asked for? Numbers may be written in any way; whole ones count all digits."""
    if stored == asked:
        return True
    one, other = _whole(stored), _whole(asked)
    if one is not None and other is not None:
        return one == other
    a, b = _number(stored), _number(asked)
    return a is not None and b is not None and a == b


def matches(
    terms: Iterable[Tuple[str, str]], row: Mapping[str, str], tags: Iterable[str], parameters: Mapping[str, str]
) -> bool:
    """Do all terms hold for a run?"""
    for key, value in terms:
        if key in WORDS:
            holds = row[WORDS[key]] == value
        elif key == "tag":
            holds = value in tags
        elif key == "seed":
            holds = bool(row["seed"]) and same_value(row["seed"], value)
        else:
            holds = key in parameters and same_value(parameters[key], value)
        if not holds:
            return False
    return True


def check_names(terms: Terms, parameters: Callable[[], Iterable[str]], metrics: Callable[[], Iterable[str]]) -> bool:
    """Returns False where a term names a metric, which only the program selects by. Raises UsageError for unknown names."""
    named = [key for key, _ in terms if key not in WORDS and key not in ("tag", "seed")]
    if not named:
        return True
    known = set(parameters())
    unknown = [key for key in named if key not in known]
    if not unknown:
        return True
    measured = set(metrics())
    for key in unknown:
        if key not in measured:
            names = ", ".join(sorted(known)) or "none"
            raise UsageError(f"selection: no parameter or metric is called '{key}'", f"parameters are: {names}")
    return False
