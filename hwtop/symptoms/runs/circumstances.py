"""Circumstances: what a run was started with and ran on, as far as its Snapshots hold it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from hwtop.model.frame import DerivedState
from hwtop.model.process import ProcessInfo
from hwtop.model.snapshot import Snapshot

Differing = tuple[str, str, str]
"""What, then, now."""
_ABSENT = "not set"


def circumstances(snapshot: Snapshot, derived: DerivedState) -> dict[str, str]:
    """What -> how it was, of the lowest rank of the job; `snapshot` and `derived` are of the same moment. Secrets were masked when it was
    read."""
    found = {"host": snapshot.host}
    if snapshot.gpu is not None and snapshot.gpu.driver is not None:
        found["GPU driver"] = snapshot.gpu.driver
    for gpu in derived.gpus:
        if gpu.power_limit_w is not None:
            found[f"power limit of GPU {gpu.index}"] = f"{gpu.power_limit_w:.0f} W"
    if derived.job is not None and derived.job.launcher is not None:
        found["launcher"] = derived.job.launcher.kind
    process = _lowest_rank(snapshot, derived)
    return found if process is None else found | dict(_started_with(process))


def differing(then: dict[str, str], now: dict[str, str]) -> tuple[Differing, ...]:
    """What is not the same; what only one of them reports is left out, except variables of the environment."""
    names = [name for name in {**then, **now} if name.startswith("$") or (name in then and name in now)]
    pairs = ((name, then.get(name, _ABSENT), now.get(name, _ABSENT)) for name in names)
    return tuple((name, old, new) for name, old, new in pairs if old != new)


def _started_with(process: ProcessInfo) -> Iterator[tuple[str, str]]:
    if process.cmdline:
        yield "command", shlex.join(process.cmdline)
    if process.cwd is not None:
        yield "folder", process.cwd
    if process.exe is not None:
        yield "program", process.exe
    for name, value in (process.env or {}).items():
        yield f"${name}", value


def _lowest_rank(snapshot: Snapshot, derived: DerivedState) -> ProcessInfo | None:
    if derived.job is None or snapshot.process is None or not derived.job.ranks:
        return None
    pid = min(derived.job.ranks, key=lambda rank: rank.rank).pid
    return next((process for process in snapshot.process.processes if process.pid == pid), None)
