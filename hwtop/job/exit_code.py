"""How a process ended, in words."""

from __future__ import annotations

import signal


def exit_words(code: int | None) -> str:
    """ "killed by SIGKILL", "exit code 1", "exit code unknown". `code`: negative = signal, as in `subprocess`."""
    if code is None:
        return "exit code unknown"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
