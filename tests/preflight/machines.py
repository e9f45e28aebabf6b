"""Machines for checks, made of readings and small trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hwtop.model.gpu.device import Gpu, GpuReading
from hwtop.model.host.memory import MemoryReading
from hwtop.model.snapshot import OwnCost, Snapshot, SourceStatus
from hwtop.preflight.check import Family, Outcome
from hwtop.preflight.machine import Machine, NotReadError
from tests import frames
from tests.host import write_tree

GIB = 1 << 30


def snapshot(refused: Mapping[str, str], readings: Mapping[str, Struct]) -> Snapshot:
    sources = [SourceStatus(name=name, status="unavailable", reason=reason) for name, reason in refused.items()]
    sources += [SourceStatus(name=name, status="ok") for name in readings]
    return Snapshot(
        time_s=1e9,
        at_s=100.0,
        host="node1",
        interval_s=1.0,
        late_ms=0.0,
        cost_ms=0.0,
        own=OwnCost(cpu_s=0.0, rss_bytes=None, at_s=100.0),
        sources=tuple(sources),
        **dict(readings),  # type: ignore[arg-type]
    )


def machine(
    root: Path = Path("/nonexistent"),
    files: Mapping[str, str] | None = None,
    *,
    refused: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    gpus: tuple[Gpu, ...] | None = None,
    options: Mapping[str, Any] | None = None,
    **readings: Struct,
) -> Machine:
    """`files` are written below `root`, which has `proc` and `sys`; a name in `refused` is a source with that reason."""
    write_tree(root, dict(files or {}))
    if gpus is not None:
        readings["gpu"] = GpuReading(at_s=100.0, gpus=gpus, driver="580.95.05")
    return Machine(
        proc=str(root / "proc"),
        sys=str(root / "sys"),
        env=env or {},
        snapshots=[snapshot(refused or {}, readings)],
        **(options or {}),
    )


def ask(family: Family, name: str, about: Machine) -> Outcome:
    """The answer to one check, as the runner has it."""
    check = next(check for check in family.checks if check.id == name)
    try:
        return check.look(about)
    except NotReadError as reason:
        return Outcome("skip", str(reason))


def memory(**values: int) -> MemoryReading:
    return MemoryReading(
        **{  # type: ignore[arg-type]
            "at_s": 100.0,
            "total_bytes": 64 * GIB,
            "available_bytes": 50 * GIB,
            "free_bytes": 40 * GIB,
            "swap_total_bytes": 8 * GIB,
            "swap_free_bytes": 8 * GIB,
            **values,
        }
    )


def link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def h100(index: int, **values: object) -> Gpu:
    """A healthy one that nobody uses."""
    return replace(
        frames.gpu(index, 0),
        **{
            "util_pct": 0.0,
            "temp_c": 35.0,
            "throttle": ("idle",),
            "processes": (),
            "mem_used_bytes": 600 << 20,
            "unlisted_bytes": None,
            "persistence_mode": True,
            **values,
        },
    )
