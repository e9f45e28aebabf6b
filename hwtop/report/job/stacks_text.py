"""`hwtop stacks` as text: the sentence, then each group with its ranks and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hwtop.job.rank_set import named
from hwtop.job.stacks.frames import is_user_frame, place
from hwtop.job.stacks.groups import divergence, parting
from hwtop.model.job import StackGroup
from hwtop.model.stack import StackFrame
from hwtop.model.symptom import Blind
from hwtop.report.fit import Section, fitted
from hwtop.report.job.stacks import StacksReport, WorkerGroup

_MOST_BLIND = 4


def stacks_text(report: StacksReport, most_bytes: int | None = None) -> str:
    """Lines with a line end each; control characters of the job's names are made visible. At most so many bytes, the groups of the
    fewest ranks first."""
    where = divergence(report.groups)
    shared = where.depth if where is not None else 0
    pids = {each.rank or 0: each.pid for each in report.ranks}
    groups = report.groups if most_bytes is None else sorted(report.groups, key=lambda entry: len(entry.ranks))
    sections = [
        Section("ranks", [line for entry in groups for line in _group(entry, pids, shared)]),
        Section("loader workers", [line for workers in report.worker_groups for line in _workers(workers)]),
        Section("what is not read", list(_blind(report.blind))),
    ]
    parted = parting(report.groups)
    head = [report.sentence, parted] if parted else [report.sentence]
    return fitted(head, sections, most_bytes, f"hwtop stacks {report.target.pid}")


def _group(entry: StackGroup, pids: Mapping[int, int], shared: int) -> Iterator[str]:
    yield ""
    yield _heading(entry, [pids[rank] for rank in entry.ranks])
    yield from _frames(entry.frames, shared)


def _workers(workers: WorkerGroup) -> Iterator[str]:
    yield ""
    yield _worker_heading(workers)
    yield from _frames(workers.at.frames, 0)


def _blind(spots: Sequence[Blind]) -> Iterator[str]:
    if spots:
        yield ""
    for spot in spots[:_MOST_BLIND]:
        yield f"not read: {spot.reason}"
    if len(spots) > _MOST_BLIND:
        yield f"not read: {len(spots) - _MOST_BLIND} more processes"


def _heading(entry: StackGroup, pids: Sequence[int]) -> str:
    shown = " ".join(str(pid) for pid in pids[:8]) + (f" and {len(pids) - 8} more" if len(pids) > 8 else "")
    return f"{named(entry.ranks)}  {entry.phase or 'unknown'}  PID {shown}"


def _worker_heading(workers: WorkerGroup) -> str:
    count = len(workers.pids)
    return f"{count} loader {'worker' if count == 1 else 'workers'} of {named(workers.at.ranks)}  PID {workers.pids[0]}"


def _frames(frames: tuple[StackFrame, ...], shared: int) -> Iterator[str]:
    """Innermost first, as py-spy prints them; `*` marks the user's own code, `|` what all groups share."""
    for index in range(len(frames) - 1, -1, -1):
        frame = frames[index]
        yield f"  {'|' if index < shared else ' '} {'*' if is_user_frame(frame) else ' '} {_where(frame)}"


def _where(frame: StackFrame) -> str:
    return place(frame) if frame.line else f"{frame.short_filename} {frame.name}"
