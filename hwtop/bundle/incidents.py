"""The incidents in `~/.local/state/hwtop/incidents`, one bundle each. The user may delete them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from hwtop import atomic_file
from hwtop.errors import UsageError
from hwtop.paths import state_folder

MOST = 20
"""Incidents that are kept."""
_MOST_BYTES = 200 << 20
"""Of all of them."""


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Whether it exists or not."""
    return state_folder(environ) / "incidents"


def save(pid: int, time_s: float, content: bytes, environ: Mapping[str, str] = os.environ) -> Path:
    """Write one, readable for the user only; the oldest go.

    Raises:
        OSError: it cannot be written.
    """
    place = folder(environ) / f"{pid}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(time_s))}.zip"
    atomic_file.write_own(place, content)
    prune(MOST, environ)
    return place


def everything(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The newest first."""
    return sorted(folder(environ).glob("*.zip"), key=lambda place: -place.stat().st_mtime)


def prune(most: int, environ: Mapping[str, str] = os.environ) -> int:
    """Remove the oldest until so many are left, and they are not too large together. Returns how many were removed.

    Raises:
        OSError: one cannot be removed.
    """
    kept = removed = size = 0
    for place in everything(environ):
        size += place.stat().st_size
        if kept < most and (size <= _MOST_BYTES or kept == 0):
            kept += 1
        else:
            place.unlink(missing_ok=True)
            removed += 1
    return removed


def named(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The incident that is called so.

    Raises:
        UsageError: there is none.
    """
    found = [place for place in everything(environ) if place.stem == name.removesuffix(".zip")]
    if not found:
        raise UsageError(f"no incident {name!r}: `hwtop incidents` lists them")
    return found[0]
