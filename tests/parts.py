"""Ranks and jobs by flat names: those of a rank are the names of its JSON, those of a job stand here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, structs

from hwtop.model.job import Job, JobFlight, JobLogs, JobMetrics, JobRas, JobStacks
from hwtop.model.rank import Rank, RankLog, RankProcess, RankProgress, RankStall
from hwtop.model.rank_stack import RankStack
from hwtop.report.frame.job_object import PARTS

S = TypeVar("S", bound=Struct)
Parts = Mapping[str, tuple[str, str]]

_RANK: Parts = PARTS | {
    "step_reported_at_s": PARTS["step_told_at_s"],
    "reporter": PARTS["told_by"],
    "intervals": PARTS["spells"],
}
_JOB: Parts = {
    "log_files": ("logs", "files"),
    "events": ("logs", "events"),
    "lines": ("logs", "lines"),
    "flagged_lines": ("logs", "flagged_lines"),
    "log_targets": ("logs", "targets"),
    "kernel_lost_lines": ("logs", "kernel_lost_lines"),
    "curves": ("metrics", "curves"),
    "metrics_files": ("metrics", "files"),
    "metrics_targets": ("metrics", "targets"),
    "stack_groups": ("stacks", "groups"),
    "outlier_vote": ("stacks", "outlier_vote"),
    "flame": ("stacks", "flame"),
    "stack_errors": ("stacks", "errors"),
    "refusals": ("stacks", "refusals"),
    "deep": ("stacks", "deep"),
    "flight": ("flight", "verdict"),
    "flight_targets": ("flight", "targets"),
    "flight_settings": ("flight", "settings"),
    "ras": ("ras", "verdict"),
}


def rank_of(**fields: Any) -> Rank:
    """A rank; `fields` may be of its parts."""
    bare = Rank(rank=fields.pop("rank"), pid=fields.pop("pid"), is_alive=fields.pop("is_alive"))
    return replace(bare, **fields)


def job_of(**fields: Any) -> Job:
    """A job; `fields` may be of its parts."""
    own = {name: fields.pop(name) for name in ("target_pid", "launcher", "world_size", "ranks", "processes")}
    return replace(Job(**own), **fields)


def replace(value: S, /, **fields: Any) -> S:
    """As `msgspec.structs.replace`; `fields` of a rank or a job may be of its parts."""
    names = _RANK if isinstance(value, Rank) else _JOB if isinstance(value, Job) else {}
    inner: dict[str, dict[str, Any]] = {}
    whole: dict[str, Any] = {}
    for name, new in fields.items():
        if name in names and not isinstance(new, _KINDS):
            part, field = names[name]
            inner.setdefault(part, {})[field] = new
        else:
            whole[name] = new
    return structs.replace(
        value, **whole, **{part: structs.replace(getattr(value, part), **new) for part, new in inner.items()}
    )


_KINDS = (RankLog, RankProcess, RankProgress, RankStack, RankStall, JobFlight, JobLogs, JobMetrics, JobRas, JobStacks)
