"""Which log lines there are to see: of whom, in which order, through which filter. Pure; `lines.py` draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter, itemgetter

from hwtop.job.log.rank_path import rank_of_path
from hwtop.job.log.time import reported_s
from hwtop.job.rank_set import parsed
from hwtop.lazy_regex import lazy_regex
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent, LogLine
from hwtop.ui.once import once
from hwtop.ui.tables.filter import matches
from hwtop.ui.view import View

_OF_RANKS = lazy_regex(r"rank=([\d,-]+)(?:\s+|$)")
_SEVERAL = 2
"""Files from which on there is an order between them."""
_PIDS = {"pid", "exit_pid"}
"""Groups of a pattern that name a process."""


@once
def owners(job: Job) -> dict[str, int]:
    """Log path -> the one rank that writes it; a path that several share has none."""
    pids = {rank.pid: rank.rank for rank in job.ranks}
    writers: dict[str, set[int]] = {}
    for rank in job.ranks:
        if rank.log.path:
            writers.setdefault(rank.log.path, set()).add(rank.rank)
    found = {path: min(ranks) for path, ranks in writers.items() if len(ranks) == 1}
    for file in job.logs.files:
        ranks = {pids[pid] for pid in file.pids if pid in pids}
        if len(ranks | writers.get(file.path, set())) == 1:
            found[file.path] = ranks.pop() if ranks else found[file.path]
        elif ranks:
            found.pop(file.path, None)
    return found


def owner(line: LogLine, owned: dict[str, int]) -> int | None:
    """The rank that wrote this line: the line says so, or it is its file, or the name of the file says so."""
    rank = owned.get(line.path) if line.rank is None else line.rank
    return rank_of_path(line.path) if rank is None else rank


def writer(line: LogLine, event: LogEvent | None, owned: dict[str, int]) -> int | None:
    """Its owner, else the rank that what was found in it is about; not where the line, a launcher's, only names the PID of one."""
    rank = owner(line, owned)
    if rank is not None or event is None or _PIDS & event.groups.keys():
        return rank
    return event.rank


@once
def names(job: Job) -> dict[str, str]:
    """Log path -> as many of its last parts as distinguish it from the others."""
    paths = {line.path for line in job.logs.lines} | {file.path for file in job.logs.files}
    parts = {path: path.split("/") for path in sorted(paths | {event.path for event in job.logs.events})}
    count = dict.fromkeys(parts, 1)
    while True:
        shown = {path: "/".join(split[-count[path] :]) for path, split in parts.items()}
        times = Counter(shown.values())
        longer = [path for path in shown if times[shown[path]] > 1 and count[path] < len(parts[path])]
        if not longer:
            return shown
        for path in longer:
            count[path] += 1


@once
def flags(job: Job) -> dict[tuple[str, str], LogEvent]:
    """(path, text) of a line -> what it matched."""
    return {(event.path, event.text): event for event in job.logs.events}


@once
def kept(job: Job) -> list[LogLine]:
    """The newest lines, and the flagged ones with their surroundings that have made room for them, in the order of time."""
    newest = {(line.path, line.line_no, line.at_s) for line in job.logs.lines} if job.logs.flagged_lines else set()
    around = [line for line in job.logs.flagged_lines if (line.path, line.line_no, line.at_s) not in newest]
    there = {(line.path, line.text) for line in (*around, *job.logs.lines)}
    gone = {(event.path, event.text): event for event in job.logs.events if (event.path, event.text) not in there}
    if not gone and not around:
        return in_time(job.logs.lines)
    flagged = [
        LogLine(
            path=event.path,
            line_no=event.line_no,
            text=event.text,
            at_s=event.at_s,
            is_past=event.is_past,
            rank=event.rank,
        )
        for event in gone.values()
    ]
    return in_time(sorted([*around, *flagged, *job.logs.lines], key=lambda line: line.at_s))


def in_time(lines: Sequence[LogLine]) -> list[LogLine]:
    """What was read at once comes file by file; where all of these files have times, it goes by them. The order of a file
    is never changed."""
    ordered: list[LogLine] = []
    for _, at_once in groupby(lines, key=attrgetter("at_s")):
        ordered += _interleaved(list(at_once))
    return ordered


def _interleaved(lines: list[LogLine]) -> list[LogLine]:
    if len({line.path for line in lines}) < _SEVERAL:
        return lines
    newest: dict[str, float] = {}
    times = []
    for line in lines:
        reported = reported_s(line.text)
        if reported is not None:
            newest[line.path] = max(reported, newest.get(line.path, reported))
        elif line.path not in newest:
            return lines
        times.append(newest[line.path])
    return [line for _, line in sorted(zip(times, lines, strict=True), key=itemgetter(0))]


@once
def of_rank(view: View) -> list[LogLine]:
    """The lines of all ranks, or of the selected one with what several share."""
    job = view.job
    if job is None or view.rank is None:
        return kept(job) if job else []
    owned = owners(job)
    return [line for line in kept(job) if owner(line, owned) in (view.rank.rank, None)]


def lines(view: View) -> list[LogLine]:
    """Those of them that the filter lets through, oldest first: all that is typed is text, but for `rank=0-3` before it."""
    typed = view.filter_of("logs")
    asked = _OF_RANKS.match(typed)
    if asked is None or view.job is None:
        return [line for line in of_rank(view) if matches(typed, line.text)]
    ranks, owned, word = parsed(asked[1]), owners(view.job), typed[asked.end() :]
    return [
        line
        for line in of_rank(view)
        if (owner(line, owned) in ranks and matches(word, line.text)) or matches(typed, line.text)
    ]


def last_words(job: Job, rank: Rank, most: int) -> list[str]:
    """The newest lines of the rank's own log, oldest first; else its last line, as far as one is known."""
    if most <= 0:
        return []
    owned = owners(job)
    own = [line.text for line in job.logs.lines if owner(line, owned) == rank.rank][-most:]
    return own or [text for text in (rank.log.last_line,) if text]
