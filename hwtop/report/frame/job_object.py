"""The job in JSON: that of `model/job.py`, with the parts of each rank in one flat object."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, defstruct, structs

from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.job import Job, JobPlace, JobRas
from hwtop.model.member import JobProcess, Launcher
from hwtop.model.rank import Rank, RankLog, RankProcess, RankProgress, RankStall
from hwtop.model.rank_stack import Phase, RankStack
from hwtop.model.reported.flight import FlightVerdict
from hwtop.model.reported.ras import RasReport, RasVerdict

_RENAMED = {
    ("log", "path"): "log",
    ("log", "age_s"): "log_age_s",
    ("log", "interval_s"): "log_interval_s",
    ("progress", "newest"): "progress",
    ("progress", "reported_at_s"): "step_told_at_s",
    ("progress", "reporter"): "told_by",
    ("stack", "dump"): "stack",
    ("stack", "shares"): "phase_shares",
    ("stack", "intervals"): "spells",
}
"""(part, field) of a rank -> its name in JSON, which is flat, where that is not the field's own."""
_KINDS: dict[str, type[Struct]] = {
    "process": RankProcess,
    "log": RankLog,
    "progress": RankProgress,
    "stack": RankStack,
    "stall": RankStall,
}
PARTS = {
    _RENAMED.get((part, name), name): (part, name) for part, kind in _KINDS.items() for name in kind.__struct_fields__
}
"""Name in JSON -> (part, field) of a rank."""
_OWN = tuple(field for field in structs.fields(Rank) if field.name not in _KINDS)
_TYPES = {field.name: field.type for field in _OWN} | {
    _RENAMED.get((part, field.name), field.name): field.type
    for part, kind in _KINDS.items()
    for field in structs.fields(kind)
}
_FIRST: dict[str, Any] = {
    "rank": int,
    "pid": int,
    "gpu": int | None,
    "step": int | None,
    "step_time_s": float | None,
    "phase": Phase | None,
}
_LAST: dict[str, Any] = {"stack_error": str | None}
RankObject: Any = defstruct("RankObject", list((_FIRST | _TYPES | _LAST).items()), frozen=True, kw_only=True)
"""One rank."""


class RasObject(Struct, frozen=True, kw_only=True):
    """What NCCL's RAS port says."""

    age_s: float | None
    report: RasReport | None
    verdict: RasVerdict | None
    reason: str | None


class JobObject(Struct, frozen=True, kw_only=True):
    """Launcher, world size, place, the conclusion from stacks and Flight Recorder dumps, ranks, processes."""

    target_pid: int
    launcher: Launcher | None
    world_size: int | None
    restarts: int | None
    place: JobPlace | None
    conclusion: str
    flight: FlightVerdict | None
    ras: RasObject | None
    """Null where NCCL was not asked."""
    has_ended: bool
    exit_code: int | None
    ranks: tuple[RankObject, ...]
    processes: tuple[JobProcess, ...]


def job_object(job: Job) -> JobObject:
    """The job as JSON has it."""
    return JobObject(
        target_pid=job.target_pid,
        launcher=job.launcher,
        world_size=job.world_size,
        restarts=job.restarts,
        place=job.place,
        conclusion=conclusion(job),
        flight=job.flight.verdict,
        ras=_ras(job.ras),
        has_ended=job.has_ended,
        exit_code=job.exit_code,
        ranks=tuple(map(_rank, job.ranks)),
        processes=job.processes,
    )


def _ras(ras: JobRas) -> RasObject | None:
    if ras.report is None and ras.reason is None:
        return None
    return RasObject(age_s=ras.age_s, report=ras.report, verdict=ras.verdict, reason=ras.reason)


def _rank(rank: Rank) -> RankObject:
    newest, dump = rank.progress.newest, rank.stack.dump
    parts = {name: getattr(getattr(rank, part), field) for name, (part, field) in PARTS.items()}
    return RankObject(
        **{field.name: getattr(rank, field.name) for field in _OWN},
        **parts,
        gpu=rank.gpus[0] if rank.gpus else None,
        step=newest.step if newest else None,
        stack_error=dump.error if dump else None,
    )
