"""Which log lines are in sight: of whom, through which filter, how far back. Pure; `panels/logs.py` draws them."""

from __future__ import annotations

from dataclasses import replace

from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.log import LogEvent, LogLine
from hwtop.model.rank import Rank
from hwtop.ui.filter import matches
from hwtop.ui.view import View


def owners(job: Job) -> dict[str, int]:
    """Log path -> the one rank that writes it; a path that several share has none."""
    pids = {rank.pid: rank.rank for rank in job.ranks}
    found = {rank.log: rank.rank for rank in job.ranks if rank.log}
    for file in job.log_files:
        ranks = {pids[pid] for pid in file.pids if pid in pids}
        if len(ranks) == 1:
            found[file.path] = ranks.pop()
        elif ranks:
            found.pop(file.path, None)
    return found


def flags(job: Job) -> dict[tuple[str, str], LogEvent]:
    """(path, text) of a line -> what it matched."""
    return {(event.path, event.text): event for event in job.events}


def of_rank(view: View) -> list[LogLine]:
    """The lines of all ranks, or of the selected one with what several share."""
    job = view.job
    if job is None or view.rank is None:
        return list(job.lines) if job else []
    owner = owners(job)
    return [line for line in job.lines if owner.get(line.path) in (view.rank.rank, None)]


def lines(view: View) -> list[LogLine]:
    """Those of them that the filter lets through, oldest first."""
    return [line for line in of_rank(view) if matches(view.filter, line.text)]


def last_words(job: Job, rank: Rank, most: int) -> list[str]:
    """The newest lines of the rank's own log, oldest first; else its last line, as far as one is known."""
    if most <= 0:
        return []
    owner = owners(job)
    own = [line.text for line in job.lines if owner.get(line.path) == rank.rank][-most:]
    return own or [text for text in (rank.last_line,) if text]


def with_frame(view: View, frame: Frame) -> View:
    """The view on a newer frame. Someone who reads further up keeps their lines: the scroll grows by what has come."""
    newer = replace(view, frame=frame)
    if view.page != "logs" or (view.is_following and not view.scroll):
        return newer
    before, after = lines(view), lines(newer)
    bottom = len(before) - 1 - view.scroll
    if not 0 <= bottom < len(before):
        return newer
    # From the end: a line that is written again and again means the newest of its kind in both lists.
    twins = before[bottom:].count(before[bottom])
    for place in range(len(after) - 1, -1, -1):
        twins -= after[place] == before[bottom]
        if twins == 0:
            return replace(newer, scroll=len(after) - 1 - place)
    return replace(newer, scroll=len(after))


def jump(view: View, step: int, rows: int) -> View:
    """To the next (1) or previous (-1) flagged line, round the ends, in the middle of `rows` rows of room."""
    job = view.job
    if job is None:
        return view
    found = lines(view)
    flagged_by = flags(job)
    flagged = [place for place, line in enumerate(found) if (line.path, line.text) in flagged_by]
    if not flagged:
        return replace(view, note="no flagged line among these")
    here = len(found) - view.scroll - (step > 0)
    if view.mark in found:
        here = found.index(view.mark)
    further = [place for place in flagged if (place > here if step > 0 else place < here)]
    target = (further or flagged)[0 if step > 0 else -1]
    scroll = max(0, min(len(found) - rows, len(found) - 1 - target - rows // 2))
    note = f"flagged line {flagged.index(target) + 1} of {len(flagged)}"
    return replace(view, mark=found[target], scroll=scroll, is_following=False, note=note)
