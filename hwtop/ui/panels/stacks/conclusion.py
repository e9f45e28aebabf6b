"""What the stacks of all ranks say together: above the tree, and what is copied."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import units
from hwtop.job.rank_set import named
from hwtop.job.stacks.conclusion import conclusion
from hwtop.model.hang import CollectiveTimeout
from hwtop.model.job import Job
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.panels import consent
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.table import ended_with
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped


def said(view: View) -> str:
    """As plain text."""
    job = view.job
    if job is None:
        return view.frame.verdict.text
    parts = [_sentence(job)]
    if job.flight.verdict is not None:
        parts.append(f"Flight Recorder: {job.flight.verdict.text}")
    if job.timeout is not None:
        parts.append(_timeout(job.timeout))
    return "; ".join(parts)


def wanted(view: View, width: int) -> int:
    """Rows for all of it, frame included."""
    return least(view, width) + len(_settings(view.job, inner(width)))


def least(view: View, width: int) -> int:
    """Rows without the settings of the Flight Recorder."""
    return 2 + len(_lines(view, inner(width)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The sentence about the ranks, what the Flight Recorder says, why a stack is missing, and how the recorder is set."""
    note = Line(key_names.first("copy", view.keymap), "key").add(" copies", "label")
    room = inner(width)
    return box([*_lines(view, room), *_settings(view.job, room)], width, height, Line("Conclusion", "title"), note)


@once
def _lines(view: View, width: int) -> list[Line]:
    job = view.job
    if job is None:
        return [Line("◌ no job", "dim")]
    return [
        *wrapped(_mark(view, job), _sentence(job), "strong", width),
        *_flight(job, width),
        *_more(job, width),
        *consent.offer(view, 2),
    ]


def _settings(job: Job | None, width: int) -> list[Line]:
    return [
        line for text in (job.flight.settings if job else ()) for line in wrapped(("· ", "dim"), text, "dim", width)
    ]


def _sentence(job: Job) -> str:
    if job.has_ended:
        return f"the job has ended: {_ends(job)}"
    if not job.stacks.groups:
        return "no stack could be read" if job.stacks.errors else "no stacks yet"
    if len(job.stacks.groups) == 1 and len(job.stacks.groups[0].ranks) > 1:
        return f"{conclusion(job)}, all at the same place"
    return conclusion(job)


def _ends(job: Job) -> str:
    """ "rank 1: exit 1, rank 0: exit 0": who failed comes first."""
    reported = [f"{named(rank.rank for rank in ranks)}: {ended_with(code)}" for code, ranks in rank_view.ends(job)]
    return ", ".join(reported) or "no rank was seen"


def _timeout(timeout: CollectiveTimeout) -> str:
    """When the wait ends by itself."""
    if timeout.left_s <= 0:
        return f"the {timeout.backend} timeout of rank {timeout.rank} is due"
    left, whole = units.duration(timeout.left_s), units.duration(timeout.timeout_s)
    return f"{timeout.backend} gives up in at most {left} (rank {timeout.rank}; {whole} by {timeout.origin})"


def _mark(view: View, job: Job) -> tuple[str, str]:
    """Ranks of a healthy job differ all the time; it is a warning where a finding names one that stands apart."""
    apart = {rank for group in job.stacks.groups[1:] for rank in group.ranks}
    is_odd = any(rank in apart for rank in view.blamed)
    return ("▲ ", "warn") if is_odd else ("● ", "info") if job.stacks.groups else ("◌ ", "dim")


def _flight(job: Job, width: int) -> Iterator[Line]:
    """The verdict on the dumps with its evidence."""
    if job.flight.verdict is None:
        return
    yield from wrapped(("▲ ", "warn"), f"Flight Recorder: {job.flight.verdict.text}", "strong", width)
    for fact in job.flight.verdict.evidence:
        yield from wrapped(("  • ", "dim"), fact, "text", width)
    if job.flight.verdict.ranks_without_dump:
        yield Line("  ◌ ", "dim").add(f"no dump of {named(job.flight.verdict.ranks_without_dump)}", "dim")


def _more(job: Job, width: int) -> Iterator[Line]:
    """The vote on the slow rank, and why stacks are missing."""
    if job.timeout is not None:
        yield from wrapped(("● ", "info"), _timeout(job.timeout), "text", width)
    if job.stacks.outlier_vote is not None:
        vote = job.stacks.outlier_vote
        yield Line("● ", "info").add(
            f"rank {vote.rank} was the outlier in {vote.votes} of {vote.rounds} rounds", "text"
        )
    for error, advice in job.stacks.errors[:3]:
        yield from wrapped(("▲ ", "warn"), error, "text", width)
        yield from wrapped(("  → ", "accent"), advice, "accent", width) if advice else ()
