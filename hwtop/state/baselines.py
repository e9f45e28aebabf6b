"""Stored baselines, one JSON file each in `~/.local/state/hwtop/baselines`."""

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
    """`name`, if it can be a file name.

    Raises:
        UsageError: it cannot.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a valid name of a baseline: use letters, digits, '.', '_' and '-'")
    return name


def save(baseline: Baseline, name: str, *, force: bool, environ: Mapping[str, str] = os.environ) -> Path:
    """Write it atomically; only the user can read it.

    Raises:
        UsageError: the name exists, and `force` is not set.
        CannotError: it cannot be written.
    """
    place = _place(checked_name(name), environ)
    if os.path.exists(place) and not force:
        raise UsageError(
            f"baseline {name!r} already exists: overwrite it with --force, or choose another name with --name"
        )
    try:
        atomic_file.write_own(place, msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n")
    except OSError as error:
        raise CannotError(
            f"cannot write {place}: {error.strerror or error}; choose another folder with XDG_STATE_HOME=FOLDER"
        ) from error
    return place


def load(name: str, environ: Mapping[str, str] = os.environ) -> Baseline:
    """The baseline of this name.

    Raises:
        UsageError: it does not exist, or its file cannot be read or is invalid.
    """
    place = _place(checked_name(name), environ)
    try:
        baseline = msgspec.json.decode(place.read_bytes(), type=Baseline)
    except FileNotFoundError:
        stored = ", ".join(names(environ)[:8])
        known = f"stored: {stored} (choose with --name)" if stored else "none is stored"
        raise UsageError(
            f"no baseline {name!r}: {known}; `hwtop baseline save PID` saves one from a good run"
        ) from None
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}: make it readable, or delete it") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{place}: not a baseline of hwtop ({error}): save it again with --force") from error
    if baseline.format != FORMAT:
        raise UsageError(f"{place}: written by hwtop {baseline.hwtop} in another format: save it again with --force")
    return baseline


def names(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Names of the stored baselines, sorted."""
    folder = state_folder(environ) / "baselines"
    try:
        return sorted(entry.stem for entry in folder.glob("*.json") if _NAME.fullmatch(entry.stem))
    except OSError:
        return []


def _place(name: str, environ: Mapping[str, str]) -> Path:
    return state_folder(environ) / "baselines" / f"{name}.json"
