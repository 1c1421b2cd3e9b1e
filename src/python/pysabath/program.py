"""The program `sabath`: where it is, and its answers as JSON."""

from __future__ import annotations

import functools
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from .errors import NotFound, ProgramMissing, SabathError, UsageError

_HINT = (
    "reading needs no program; to run, fetch or compare, install sabath and add it to PATH, "
    "or set SABATH_PROGRAM to its path"
)


def find_program() -> Optional[str]:
    """Returns the path of the program: $SABATH_PROGRAM, the one beside this package, the one in PATH, or None."""
    named = os.environ.get("SABATH_PROGRAM")
    if named:
        return named if os.access(named, os.X_OK) else None
    beside = Path(__file__).parent / "program" / "bin" / "sabath"
    if os.access(beside, os.X_OK):
        return str(beside)
    import shutil

    return shutil.which("sabath")


def main() -> None:
    """The script `sabath` of the wheel that has the program: becomes that program."""
    import sys

    program = str(Path(__file__).parent / "program" / "bin" / "sabath")
    os.execv(program, ["sabath", *sys.argv[1:]])


def require_program(what: str) -> str:
    """Returns the path of the program. Raises ProgramMissing, which says that `what` needs it."""
    found = find_program()
    if found is None:
        raise ProgramMissing(f"{what} needs the program 'sabath', which was not found", _HINT)
    return found


@functools.lru_cache(maxsize=None)
def _check_version(program: str) -> None:
    """Warns once of a program that is of another version than this package."""
    import subprocess

    from . import __version__

    done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", done.stdout)
    if found is not None and found[0].split(".")[:2] != __version__.split(".")[:2]:
        warnings.warn(f"{program} is version {found[0]}, pysabath is {__version__}: answers may differ; install both of one version", stacklevel=4)


def _failure(arguments: Sequence[str], status: int, errors: str) -> SabathError:
    """The error of a program that failed. With --json its last words are {"error": {"message": ..., "hint": ...}}."""
    message, hint = errors.strip(), ""
    start = errors.rfind('{\n  "error"')
    try:
        error = json.loads(errors[start:])["error"] if start >= 0 else {}
        message, hint = str(error["message"]), str(error.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        pass
    message = message or f"sabath {' '.join(arguments)}: ended with status {status}"
    kind = {2: UsageError, 10: NotFound}.get(status, SabathError)
    return kind(message, hint, status)


def environment_of(home: Optional[os.PathLike]) -> Dict[str, str]:
    """Returns the variables for the program: those of this process, with SABATH_HOME where a home is named."""
    variables = dict(os.environ)
    if home is not None:
        variables["SABATH_HOME"] = os.fspath(home)
    return variables


def ask(
    arguments: Sequence[str],
    *,
    home: Optional[os.PathLike] = None,
    accept: Sequence[int] = (0,),
) -> Any:
    """Runs `sabath ARGUMENTS --json` and returns its answer as Python values.

    NaN and infinities come as the texts that the program writes. `accept` has the exit statuses that are answers.
    Raises ProgramMissing; UsageError for status 2; NotFound for status 10; SabathError for any other status.
    """
    import subprocess  # reading needs none, and it takes a third of the import

    program = require_program("'sabath " + (arguments[0] if arguments else "") + "'")
    command: List[str] = [program, *arguments, "--json"]
    try:
        _check_version(program)
        done = subprocess.run(
            command, env=environment_of(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ProgramMissing(f"{program}: cannot be started: {error.strerror}", _HINT) from error
    if done.returncode not in accept:
        raise _failure(arguments, done.returncode, done.stderr)
    return _answer(done.stdout, arguments)


def _answer(text: str, arguments: Sequence[str]) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    for line in reversed(lines):  # commands that tell their progress answer in their last line
        try:
            event = json.loads(line)
        except ValueError:
            break
        if isinstance(event, dict) and event.get("type") in (None, "result"):
            return event
    raise SabathError(f"sabath {' '.join(arguments)}: its answer is not JSON")
