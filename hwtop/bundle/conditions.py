"""Conditions of a run that only a bundle holds: versions of system and packages, git commit. Read as data of somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from hwtop.bundle.opened import is_bundle, text
from hwtop.errors import UsageError

_MOST_BYTES = 4 << 20
"""Of a member."""
T = TypeVar("T")


class _Environment(Struct):
    """What is compared of environment.json."""

    os: str | None = None
    kernel: str | None = None
    machine: str | None = None
    packages: list[str] = []


class _Git(Struct):
    """What is compared of git.json."""

    commit: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None


def conditions(place: Path) -> dict[str, str]:
    """What -> how it was, as `symptoms.runs.circumstances` names it; empty for a recording."""
    if not is_bundle(place):
        return {}
    told, git = _member(place, "environment.json", _Environment), _member(place, "git.json", _Git)
    packages = (package.partition(" v") for package in told.packages)
    found = {
        "system": told.os,
        "kernel": told.kernel,
        "machine": told.machine,
        **{f"package {name}": version for name, _, version in packages},
        "git commit": git.commit,
        "git branch": git.branch,
        "files changed since the commit": None if git.is_dirty is None else "yes" if git.is_dirty else "no",
    }
    return {what: value for what, value in found.items() if value}


def _member(place: Path, name: str, kind: type[T]) -> T:
    """As far as it can be read: what is missing is not compared."""
    try:
        return msgspec.json.decode(text(place, name, _MOST_BYTES), type=kind)
    except (UsageError, msgspec.MsgspecError, RecursionError):
        return kind()
