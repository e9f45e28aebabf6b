"""The JSON contract of `hwtop diagnose` and `hwtop snapshot`.

Unknown numbers are null; NaN and infinity become null. Bytes of a file name that are not UTF-8 become "?".
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

import msgspec

from hwtop import __version__
from hwtop.job.log.text import storable
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.job import Job, JobRas
from hwtop.model.rank import Rank, RankLog, RankProcess, RankProgress, RankStack, RankStall


def diagnosis(frame: Frame) -> dict[str, Any]:
    """One object: target, job, findings, episodes (when each symptom was raised and cleared), hypotheses, blind."""
    job = frame.derived.job
    return {
        "hwtop": __version__,
        "target": {
            "pid": job.target_pid if job else None,
            "host": frame.derived.host,
            "watched_s": round(frame.watched_s, 1),
            "time": frame.derived.time_s,
        },
        "verdict": plain(frame.verdict),
        "job": job_object(job) if job else None,
        "findings": [plain(finding) for finding in frame.findings],
        "episodes": [plain(each) for each in frame.episodes],
        "hypotheses": [plain(each) for each in frame.hypotheses],
        "blind": [plain(spot) for spot in frame.blind],
    }


def snapshot(frame: Frame) -> dict[str, Any]:
    """One snapshot with derived rates."""
    derived = frame.derived
    return {
        "time": derived.time_s,
        "host": derived.host,
        "interval_s": derived.interval_s,
        "gpus": _gpus(derived),
        "gpu_topology": plain(derived.topology) if derived.topology else None,
        "cpu": _cpu(derived),
        "memory": plain(derived.memory) if derived.memory else None,
        "cgroup": plain(derived.cgroup) if derived.cgroup else None,
        "disks": [plain(disk) for disk in derived.disks],
        "mounts": [plain(mount) for mount in derived.mounts],
        "nics": [plain(nic) for nic in derived.network.nics] if derived.network else [],
        "network": {"tcp_retransmit_pct": derived.network.tcp_retransmit_pct if derived.network else None},
        "job": job_object(derived.job) if derived.job else None,
        "sampler": {
            "cost_ms": derived.cost_ms,
            "late_ms": derived.late_ms,
            "cpu_pct": derived.own_cpu_pct,
            "rss_bytes": derived.own_rss_bytes,
            "sources": [plain(source) for source in derived.sources],
        },
    }


def job_object(job: Job) -> dict[str, Any]:
    """Launcher, world size, place, the conclusion from stacks and Flight Recorder dumps, ranks, processes."""
    return {
        "target_pid": job.target_pid,
        "launcher": plain(job.launcher) if job.launcher else None,
        "world_size": job.world_size,
        "restarts": job.restarts,
        "place": plain(job.place) if job.place else None,
        "conclusion": conclusion(job),
        "flight": plain(job.flight.verdict) if job.flight.verdict else None,
        "ras": _ras(job.ras),
        "has_ended": job.has_ended,
        "ranks": [_rank(rank) for rank in job.ranks],
        "processes": [plain(process) for process in job.processes],
    }


def _ras(ras: JobRas) -> dict[str, Any] | None:
    """Null where NCCL was not asked."""
    if ras.report is None and ras.reason is None:
        return None
    return {name: plain(getattr(ras, name)) for name in ("age_s", "report", "verdict", "reason")}


_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""DEL, the C1 controls (U+009B begins an escape sequence) and marks that reverse the text after them; JSON escapes only C0."""


def encode(value: object, *, indent: int = 2) -> str:
    """JSON text, safe to print on a terminal."""
    text = msgspec.json.format(msgspec.json.encode(plain(value)), indent=indent).decode()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _gpus(derived: DerivedState) -> list[dict[str, Any]]:
    """Each device with the rates of its counters; null in the first second."""
    rates = {rate.index: plain(rate) for rate in derived.gpu_rates}
    return [{**plain(gpu), "rates": rates.get(gpu.index)} for gpu in derived.gpus]


def _cpu(derived: DerivedState) -> dict[str, Any] | None:
    if derived.cpu is None:
        return None
    return {**plain(derived.cpu), "usable_cores": derived.cores}


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
PARTS = {
    _RENAMED.get((part, name), name): (part, name)
    for part, kind in (
        ("process", RankProcess),
        ("log", RankLog),
        ("progress", RankProgress),
        ("stack", RankStack),
        ("stall", RankStall),
    )
    for name in kind.__struct_fields__
}
"""Name in JSON -> (part, field) of a rank."""


def _rank(rank: Rank) -> dict[str, Any]:
    fields: dict[str, Any] = plain(rank)
    parts = {part: fields.pop(part) for part in dict.fromkeys(part for part, _ in PARTS.values())}
    fields |= {name: parts[part][field] for name, (part, field) in PARTS.items()}
    stack = fields.pop("stack")
    progress = fields["progress"] or {}
    return {
        "rank": rank.rank,
        "pid": rank.pid,
        "gpu": rank.gpus[0] if rank.gpus else None,
        "step": progress.get("step"),
        "step_time_s": rank.progress.step_time_s,
        "phase": rank.stack.phase,
        "state": rank.state,
        "log": rank.log.path,
        **fields,
        "stack_error": stack["error"] if stack else None,
    }


def plain(value: object) -> Any:
    """Structs as dicts, tuples as lists, without values that JSON does not have."""
    return _fit(msgspec.to_builtins(value))


def _fit(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_fit(key): _fit(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fit(entry) for entry in value]
    return value
