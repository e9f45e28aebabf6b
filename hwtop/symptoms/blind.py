"""What hwtop cannot see right now, and why."""

from __future__ import annotations

from hwtop.job.rank_set import named
from hwtop.model.frame import DerivedState
from hwtop.model.job import Job
from hwtop.model.symptom import Blind

ANSWERED_S = 3.0
"""By then each source has answered once, and the logs of the job have been found. Engineering default."""


def blind_spots(derived: DerivedState, watched_s: float = ANSWERED_S) -> tuple[Blind, ...]:
    """Sources that do not answer, stacks and logs that cannot be read, GPUs that are gone. Each reason once.

    Nothing is called silent, or not found, before it had time to answer: `watched_s`, of the whole watch.
    """
    is_due = watched_s >= ANSWERED_S
    spots = [
        Blind(source=source.name, reason=source.reason or "no reading")
        for source in derived.sources
        if source.status != "ok" and (is_due or "not answering" not in (source.reason or ""))
    ]
    spots += [
        Blind(source=f"gpu {gpu.index}", reason=gpu.reason or gpu.status) for gpu in derived.gpus if gpu.status != "ok"
    ]
    spots += [
        Blind(source=f"mount {mount.mount_point}", reason=mount.reason)
        for mount in derived.mounts
        if mount.reason is not None
    ]
    job = derived.job
    if job is not None:
        spots += _stacks(job)
        spots += _gpus_of_ranks(job)
        spots += [
            Blind(source=f"log {file.path}", reason=file.reason) for file in job.logs.files if file.reason is not None
        ]
        spots += [
            Blind(source=f"metrics {file.path}", reason=file.reason)
            for file in job.metrics.files
            if file.reason is not None
        ]
        has_log = any(file.reason is None or file.size_bytes is not None for file in job.logs.files)
        unmatched = derived.missing.get("logs.globs")
        if unmatched is not None and is_due:
            spots.append(Blind(source="logs", reason=unmatched))
        elif not has_log and not job.has_ended and is_due:
            spots.append(Blind(source="logs", reason="no readable log file found: name one with --logs 'GLOB'"))
        if job.ras.reason is not None and job.ras.pids:
            spots.append(Blind(source="NCCL RAS", reason=job.ras.reason))
        if job.logs.kernel_lost_lines:
            lost = f"{job.logs.kernel_lost_lines} records were overwritten before they could be read"
            spots.append(Blind(source="kernel", reason=lost))
        if not job.ranks and not job.has_ended and job.rendezvous is None:
            reason = f"none under PID {job.target_pid}: `hwtop` alone lists jobs"  # whole in 80 columns
            spots.append(Blind(source="ranks", reason=reason))
        here = sum(rank.is_alive for rank in job.ranks)
        if job.world_size is not None and job.world_size > max(here, job.local_world_size or 0):
            spots.append(Blind(source="ranks", reason=f"{here} of {job.world_size} ranks are visible on this machine"))
    return tuple(dict.fromkeys(spots))


def _gpus_of_ranks(job: Job) -> list[Blind]:
    """Ranks that use GPUs of which it is not known which."""
    whose: dict[str, list[int]] = {}
    for rank in job.ranks:
        if rank.is_alive and rank.gpus_reason is not None:
            whose.setdefault(rank.gpus_reason, []).append(rank.rank)
    return [
        Blind(source="gpu", reason=f"which GPU is that of {named(ranks)} is not known: {reason}")
        for reason, ranks in whose.items()
    ]


def _stacks(job: Job) -> list[Blind]:
    """What the attach ladder was refused, rung by rung with the ranks concerned; then what failed for another reason."""
    found = []
    for refusal in job.stacks.refusals:
        whose = f"{named(refusal.ranks)}: " if refusal.ranks else ""
        found.append(_with_advice(f"{whose}{refusal.rung}: {refusal.reason}", refusal.advice))
    reported = {refusal.reason for refusal in job.stacks.refusals}
    return found + [_with_advice(error, advice) for error, advice in job.stacks.errors if error not in reported]


def _with_advice(reason: str, advice: str) -> Blind:
    return Blind(source="stacks", reason=f"{reason}; {advice}" if advice else reason)
