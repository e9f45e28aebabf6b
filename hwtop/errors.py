"""Errors that hwtop reports to the user.

HwtopError
├── UsageError      invalid input: a bad PID, flag or file
└── CannotError     valid input, but not possible on this machine
"""

from __future__ import annotations


class HwtopError(Exception):
    """One line that says what is wrong and what to do. Ends the program with exit code 2."""

    exit_code = 2


class UsageError(HwtopError):
    """The input is invalid: no such process, no such file, a value out of range."""


class CannotError(HwtopError):
    """The input is valid, but cannot be done here: no permission, a missing extra."""


def internal_error(error: Exception, where: str | None = None) -> str:
    """What to report of a mistake of hwtop itself. `where`: the rule or the part of hwtop that failed."""
    return f"internal error{f' in {where}' if where else ''}: {type(error).__name__}: {error}"
