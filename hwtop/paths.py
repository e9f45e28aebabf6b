"""Where a person's own files of hwtop lie (XDG base directory specification)."""

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
    """`~/.local/state/hwtop`, whether it exists or not: what hwtop itself has written down and a person may delete."""
    home = Path(environ.get("XDG_STATE_HOME", ""))
    if not home.is_absolute():
        home = _home(environ) / ".local" / "state"
    return home / "hwtop"


def _home(environ: Mapping[str, str]) -> Path:
    """A user without a home, as in some containers, gets one that is not there: nothing is read, and writing tells why not."""
    home = Path(environ.get("HOME") or "~")
    with contextlib.suppress(RuntimeError):
        return home.expanduser()
    return Path("/nonexistent")
