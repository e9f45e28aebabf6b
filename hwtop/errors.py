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
