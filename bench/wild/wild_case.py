"""One job of a set: a record of the set's `cases.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import msgspec
import tomli


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A healthy job, or one with a planted fault."""

    name: str
    command: tuple[str, ...]
    """Started in a fresh folder. Names of the set's files become absolute paths; {set} is the set's folder,
    {env} that of the packages; both in `env` too."""
    fault: str | None = None
    """What was planted, for people. None: healthy, nothing of warning or above may be raised."""
    symptoms: tuple[str, ...] = ()
    """Accepted for the finding on top, the best first."""
    ranks: tuple[int, ...] | None = None
    """Culprits; None: none, or any."""
    ready: str | None = None
    """Regular expression on the output, or on a log in the job's folder, after which hwtop attaches; None: at once."""
    delay_s: float = 0.0
    """Wait after that."""
    watch_s: float = 30.0
    env: dict[str, str] = {}
    during: str | None = None
    """Shell command run as the watch begins. Its variables: PID (the launcher), SESSION, TREE (all PIDs, the oldest
    first), and RANK0_PID, RANK1_PID, ... of ranks that got RANK from their launcher."""
    also: tuple[str, ...] = ()
    """True of the job too: may stand beside the expected symptom, and of a healthy job alone."""
    needs: tuple[str, ...] = ()
    """Packages without which the case is skipped."""
    cores: float = 1.0
    """Cores that the job keeps busy: for people, as jobs run one at a time."""
    settle_s: float = 60.0
    """How long to wait for `ready` at most."""

    def __post_init__(self) -> None:
        if (self.fault is None) != (not self.symptoms):
            raise ValueError(f"{self.name}: fault and symptoms belong together")


class _Set(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    case: tuple[Case, ...]
    env: dict[str, str] = {}
    """Of every case."""


def load(folder: Path, patterns: Sequence[str] = ()) -> list[Case]:
    """The cases of the set in `folder`, of those whose name matches one of the patterns."""
    with (folder / "cases.toml").open("rb") as file:
        record = msgspec.convert(tomli.load(file), _Set)
    names = [case.name for case in record.case]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two cases are named {', '.join(sorted(twice))}")
    return [
        msgspec.structs.replace(case, env={**record.env, **case.env})
        for case in record.case
        if not patterns or any(fnmatch(case.name, pattern) for pattern in patterns)
    ]
