"""Where a person's own files of hwtop lie (XDG base directory specification)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`~/.config/hwtop`, whether it exists or not."""
    home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # the specification: a relative path is to be ignored
        home = Path(environ.get("HOME") or Path("~").expanduser(), ".config")
    return home / "hwtop"


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`~/.local/state/hwtop`, whether it exists or not: what hwtop itself has written down and a person may delete."""
    home = Path(environ.get("XDG_STATE_HOME", ""))
    if not home.is_absolute():
        home = Path(environ.get("HOME") or Path("~").expanduser(), ".local", "state")
    return home / "hwtop"
