"""The stack samples of a recording, by rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackSample
from hwtop.report.exports.speedscope import speedscope


def recorded_stacks(snapshots: Iterable[Snapshot], last: Frame) -> str:
    """All of them as a file for speedscope. `last` is the last frame: it knows the ranks of the job."""
    job = last.derived.job
    ranks = {rank.pid: rank.rank for rank in job.ranks} if job else {}
    samples: dict[int, list[StackSample]] = {rank: [] for rank in sorted(ranks.values())}
    for snapshot in snapshots:
        for pid, sample in _samples(snapshot):
            if pid in ranks:
                samples[ranks[pid]].append(sample)
    for taken in samples.values():
        taken.sort(key=lambda sample: sample.at_s)
    return speedscope(samples, last.watched_s, f"training job of PID {job.target_pid if job else None}")


def _samples(snapshot: Snapshot) -> Iterator[tuple[int, StackSample]]:
    """Those of windows, and the main threads of single dumps."""
    if snapshot.stacks is None:
        return
    for profile in snapshot.stacks.profiles:
        for sample in profile.samples:
            yield profile.pid, sample
    for dump in snapshot.stacks.dumps:
        if dump.threads and dump.threads[0].frames:
            yield dump.pid, StackSample(at_s=dump.at_s, frames=dump.threads[0].frames)
