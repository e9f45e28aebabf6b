"""The JSON contract of `hwtop diagnose` and `hwtop snapshot`.

Unknown numbers are null; NaN and infinity become null. Bytes of a file name that are no UTF-8 become "?".
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from hwtop import __version__
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.frame import Frame, Moment
from hwtop.model.job import Job
from hwtop.model.rank import Rank


def diagnosis(frame: Frame) -> dict[str, Any]:
    """One object: target, job, findings, episodes (when each symptom was up), hypotheses, blind."""
    job = frame.moment.job
    return {
        "hwtop": __version__,
        "target": {
            "pid": job.target_pid if job else None,
            "host": frame.moment.host,
            "watched_s": round(frame.watched_s, 1),
            "time": frame.moment.time_s,
        },
        "verdict": plain(frame.verdict),
        "job": job_object(job) if job else None,
        "findings": [plain(finding) for finding in frame.findings],
        "episodes": [plain(each) for each in frame.episodes],
        "hypotheses": [plain(each) for each in frame.hypotheses],
        "blind": [plain(spot) for spot in frame.blind],
    }


def snapshot(frame: Frame) -> dict[str, Any]:
    """One moment with derived rates."""
    moment = frame.moment
    return {
        "time": moment.time_s,
        "host": moment.host,
        "interval_s": moment.interval_s,
        "gpus": _gpus(moment),
        "gpu_topology": plain(moment.topology) if moment.topology else None,
        "cpu": _cpu(moment),
        "memory": plain(moment.memory) if moment.memory else None,
        "cgroup": plain(moment.cgroup) if moment.cgroup else None,
        "disks": [plain(disk) for disk in moment.disks],
        "mounts": [plain(mount) for mount in moment.mounts],
        "nics": [plain(nic) for nic in moment.network.nics] if moment.network else [],
        "network": {"tcp_retransmit_pct": moment.network.tcp_retransmit_pct if moment.network else None},
        "job": job_object(moment.job) if moment.job else None,
        "sampler": {
            "cost_ms": moment.cost_ms,
            "late_ms": moment.late_ms,
            "cpu_pct": moment.own_cpu_pct,
            "rss_bytes": moment.own_rss_bytes,
            "sources": [plain(source) for source in moment.sources],
        },
    }


def job_object(job: Job) -> dict[str, Any]:
    """Launcher, world size, place, what all stacks and Flight Recorder dumps come to, ranks, processes."""
    return {
        "target_pid": job.target_pid,
        "launcher": plain(job.launcher) if job.launcher else None,
        "world_size": job.world_size,
        "restarts": job.restarts,
        "place": plain(job.place) if job.place else None,
        "conclusion": conclusion(job),
        "flight": plain(job.flight) if job.flight else None,
        "has_ended": job.has_ended,
        "ranks": [_rank(rank) for rank in job.ranks],
        "processes": [plain(process) for process in job.processes],
    }


def encode(value: object, *, indent: int = 2) -> str:
    """JSON text."""
    return msgspec.json.format(msgspec.json.encode(plain(value)), indent=indent).decode()


def _gpus(moment: Moment) -> list[dict[str, Any]]:
    """Each device with the rates of its counters; null in the first second."""
    rates = {rate.index: plain(rate) for rate in moment.gpu_rates}
    return [{**plain(gpu), "rates": rates.get(gpu.index)} for gpu in moment.gpus]


def _cpu(moment: Moment) -> dict[str, Any] | None:
    if moment.cpu is None:
        return None
    return {**plain(moment.cpu), "usable_cores": moment.cores}


def _rank(rank: Rank) -> dict[str, Any]:
    fields: dict[str, Any] = plain(rank)
    stack = fields.pop("stack")
    progress = fields["progress"] or {}
    return {
        "rank": rank.rank,
        "pid": rank.pid,
        "gpu": rank.gpus[0] if rank.gpus else None,
        "step": progress.get("step"),
        "step_time_s": rank.step_time_s,
        "phase": rank.phase,
        "state": rank.state,
        "log": rank.log,
        **fields,
        "stack_error": stack["error"] if stack else None,
    }


def plain(value: object) -> Any:
    """Structs as dicts, tuples as lists, and nothing in them that JSON cannot hold."""
    return _fit(msgspec.to_builtins(value))


def _fit(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # surrogates, which stand for bytes that are no text
    if isinstance(value, dict):
        return {_fit(key): _fit(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fit(entry) for entry in value]
    return value
