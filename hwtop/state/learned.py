"""What hwtop has learned of the jobs it watched, one JSON file each in `~/.local/state/hwtop/learned`. The user may delete it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from hwtop import atomic_file
from hwtop.model.baseline import FORMAT, Baseline
from hwtop.paths import state_folder

RUNS = 8
"""Runs that are kept of each job, so that old code and old data are forgotten."""
JOBS = 200
"""Files that are kept, about 2 kB each. Engineering defaults."""


def load(key: str, environ: Mapping[str, str] = os.environ) -> tuple[Baseline, ...]:
    """The runs of this job, oldest first; none if the file is missing or invalid."""
    try:
        found = msgspec.json.decode((folder(environ) / f"{key}.json").read_bytes(), type=tuple[Baseline, ...])
    except (OSError, msgspec.DecodeError):
        return ()
    return tuple(run for run in found if run.format == FORMAT)


def save(key: str, newest: Baseline, runs: Sequence[Baseline], environ: Mapping[str, str] = os.environ) -> None:
    """Write these and a newer one, atomically; only the user can read them. A failure is not reported: the user did not ask
    for the file."""
    place = folder(environ) / f"{key}.json"
    with suppress(OSError):
        atomic_file.write_own(place, msgspec.json.encode([*runs[1 - RUNS :], newest]) + b"\n")
        _forget_oldest(place.parent)


def everything(environ: Mapping[str, str] = os.environ) -> list[Baseline]:
    """The newest run of each job, newest first."""
    try:
        keys = [entry.stem for entry in folder(environ).glob("*.json")]
    except OSError:
        return []
    newest = [runs[-1] for key in keys if (runs := load(key, environ))]
    return sorted(newest, key=lambda run: -run.saved_time_s)


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder, whether it exists or not."""
    return state_folder(environ) / "learned"


def _forget_oldest(place: Path) -> None:
    files = sorted(place.glob("*.json"), key=lambda entry: entry.stat().st_mtime)
    for entry in files[:-JOBS]:
        entry.unlink(missing_ok=True)
