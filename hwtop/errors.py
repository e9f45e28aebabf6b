"""Everything that hwtop itself reports to the person at the keyboard.

HwtopError
├── UsageError      wrong input: a bad PID, flag or file
└── CannotError     right input, but this machine does not allow it
"""

from __future__ import annotations


class HwtopError(Exception):
    """One line that says what is wrong and what to do. Ends the program with exit code 2."""

    exit_code = 2


class UsageError(HwtopError):
    """What was typed cannot be right: no such process, no such file, an impossible value."""


class CannotError(HwtopError):
    """What was typed is right, but cannot be done here: no permission, a missing extra."""
