"""Where hwtop keeps the user's files (XDG Base Directory Specification)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`~/.config/hwtop`, whether it exists or not."""
    home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # the specification: a relative path is to be ignored
        home = _home(environ) / ".config"
    return home / "hwtop"


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`~/.local/state/hwtop`, whether it exists or not: what hwtop has written itself; the user may delete all of it."""
    home = Path(environ.get("XDG_STATE_HOME", ""))
    if not home.is_absolute():
        home = _home(environ) / ".local" / "state"
    return home / "hwtop"


def _home(environ: Mapping[str, str]) -> Path:
    """A user without a home, as in some containers, gets a path that does not exist: nothing is read, and writing fails with the reason."""
    home = Path(environ.get("HOME") or "~")
    with contextlib.suppress(RuntimeError):
        return home.expanduser()
    return Path("/nonexistent")
