"""Errors of the package. Each has a message, and most have a hint that says what to do."""

from __future__ import annotations


class SabathError(Exception):
    """What went wrong. `hint` says what to do; it may be empty."""

    def __init__(self, message: str, hint: str = "", status: int = 1) -> None:
        super().__init__(f"{message}\n  hint: {hint}" if hint else message)
        self.message = message
        self.hint = hint
        self.status = status


class UsageError(SabathError):
    """A wrong name, selection or value."""


class NotANumber(UsageError, TypeError):
    """A logged value that is not one number."""


class NotFound(SabathError):
    """A home, run, metric or file that is not there."""


class NewerFormat(SabathError):
    """A document of a newer version than this package reads."""


class ProgramMissing(SabathError):
    """The program `sabath` is needed and was not found."""
