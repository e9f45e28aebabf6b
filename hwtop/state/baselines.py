"""Baselines: the stored ones, one JSON file each in `~/.local/state/hwtop/baselines`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from hwtop import atomic_file
from hwtop.errors import CannotError, UsageError
from hwtop.model.baseline import FORMAT, Baseline, JobIdentity
from hwtop.paths import state_folder

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def derived_name(identity: JobIdentity) -> str:
    """ "train.py-8" for a script with 8 ranks."""
    script = re.sub(r"[^A-Za-z0-9._-]+", "-", identity.script).strip(".-")[:80] or "job"
    return script if identity.world_size is None else f"{script}-{identity.world_size}"


def checked_name(name: str) -> str:
    """`name`, which may be that of a file.

    Raises:
        UsageError: it may not.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} cannot be the name of a baseline: use letters, digits, '.', '_' and '-'")
    return name


def save(baseline: Baseline, name: str, *, force: bool, environ: Mapping[str, str] = os.environ) -> Path:
    """Write it, for the person's own eyes only; whole or not at all.

    Raises:
        UsageError: there is one of this name, and not `force`.
        CannotError: it cannot be written.
    """
    place = _place(checked_name(name), environ)
    if os.path.exists(place) and not force:
        raise UsageError(
            f"there is a baseline {name!r} already: overwrite it with --force, or give another name with --name"
        )
    try:
        atomic_file.write(place, msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n")
    except OSError as error:
        raise CannotError(
            f"{place} cannot be written: {error.strerror or error}; choose a folder with XDG_STATE_HOME=FOLDER"
        ) from error
    return place


def load(name: str, environ: Mapping[str, str] = os.environ) -> Baseline:
    """The baseline of this name.

    Raises:
        UsageError: there is none, or its file cannot be read or understood.
    """
    place = _place(checked_name(name), environ)
    try:
        baseline = msgspec.json.decode(place.read_bytes(), type=Baseline)
    except FileNotFoundError:
        stored = ", ".join(names(environ)[:8])
        known = f"stored are {stored} (choose with --name)" if stored else "none is stored"
        raise UsageError(
            f"no baseline {name!r}: {known}; `hwtop baseline save PID` makes one of a run that goes well"
        ) from None
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}: make it readable, or delete it") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{place}: no baseline of hwtop ({error}): save it anew with --force") from error
    if baseline.format != FORMAT:
        raise UsageError(f"{place}: written by hwtop {baseline.hwtop} in another format: save it anew with --force")
    return baseline


def names(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Of those that are stored, sorted."""
    folder = state_folder(environ) / "baselines"
    try:
        return sorted(entry.stem for entry in folder.glob("*.json") if _NAME.fullmatch(entry.stem))
    except OSError:
        return []


def _place(name: str, environ: Mapping[str, str]) -> Path:
    return state_folder(environ) / "baselines" / f"{name}.json"
