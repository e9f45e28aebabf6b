"""The ranks in the order of the screen, and which of them differ. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from hwtop.fields.rank import WORST_FIRST, RankRow
from hwtop.fields.rank import rows as rank_rows
from hwtop.job.stacks.frames import place
from hwtop.model.job import Job
from hwtop.model.rank import Rank, RankState
from hwtop.ui.once import once
from hwtop.ui.panels.ranks.state import RANKS
from hwtop.ui.tables.query import Query, parse
from hwtop.ui.view import View

_SICK = frozenset(WORST_FIRST[:5])
_FEW = 1 / 8
"""A state that at most this share of the ranks is in is shown of them; engineering default."""
_BEHIND = 2
"""Steps behind the median from which on a rank is shown; one is the jitter of a log."""


@once
def ordered(view: View) -> tuple[Rank, ...]:
    """The job's ranks: on the ranks page in its order, as far as its filter lets them through, on others by number."""
    rows = filter(query(view).lets, by_number(view).values())
    return tuple(row.rank for row in RANKS.arranged(view, rows))


def shown(view: View) -> Rank | None:
    """The rank that is shown next to the list: of those that its filter lets through, where it does not let the selected one through."""
    rank, listed = view.shown_rank, ordered(view)
    is_listed = rank is not None and any(each.rank == rank.rank for each in listed)
    return rank if is_listed or not listed else listed[0]


def has_stepped(rank: Rank, seconds: float) -> bool:
    """Whether it has reported a step well within the last `seconds`: what looked the same is a place that it comes back to."""
    return rank.progress.step_age_s is not None and rank.progress.step_age_s < seconds / 2


def still_s(rank: Rank) -> float | None:
    """For how long every look has shown the same stack, at most since its last step; None where it has stepped well within that time."""
    same_s, step_s = rank.stall.same_stack_for_s, rank.progress.step_age_s
    if same_s is None or has_stepped(rank, same_s):
        return None
    return same_s if step_s is None else min(same_s, step_s)


def is_plain(view: View) -> bool:
    """Whether the ranks stand by their numbers, all of them."""
    return RANKS.order(view) == "rank" and not RANKS.is_falling(view) and not view.filter_of(RANKS.name)


def place_of_focused(view: View, ranks: Sequence[Rank]) -> int:
    """Of the selected rank among these, else of the one that is blamed; 0 where it is not among them."""
    wanted = view.focused_rank
    return next((index for index, rank in enumerate(ranks) if rank.rank == wanted), 0)


@once
def by_number(view: View) -> dict[int, RankRow]:
    """Number -> the rank with what its fields need to know of the rest of the job."""
    return {row.rank.rank: row for row in rank_rows(view.frame.derived)}


@once
def query(view: View) -> Query[RankRow]:
    """The filter of the ranks page."""
    return parse(view.filter_of(RANKS.name), RANKS.fields, _text)


def _text(row: RankRow) -> str:
    """Where words are looked for."""
    rank = row.rank
    return f"rank {rank.rank} {rank.pid} {rank.state} {rank.stack.phase or ''} {rank.log.last_line or ''}"


@once
def differing(view: View) -> list[tuple[Rank, str]]:
    """Ranks that are not like most, the weightiest first, each with the reason in a few words."""
    job = view.job
    if job is None or len(job.ranks) < 2:
        return []
    blame = {number: finding.symptom for finding in reversed(view.frame.findings) for number in finding.ranks}
    if len(blame) > len(job.ranks) / 2:
        blame = {}  # what most ranks share makes none of them differ
    states = Counter(rank.state for rank in job.ranks)
    alone = _alone(job)
    steps = [step for rank in job.ranks if (step := rank.progress.step) is not None]
    middle = median(steps) if steps else 0.0
    found: list[tuple[Rank, str]] = []
    for rank in job.ranks:
        reasons = [blame[rank.rank]] if rank.rank in blame else []
        behind = middle - (rank.progress.step or middle)
        if behind >= _BEHIND:
            reasons.append(f"{behind:,.0f} steps behind")
        if reasons or _is_odd(rank.state, states, len(job.ranks)):
            reasons += [alone[rank.rank]] if rank.rank in alone else []
            found.append((rank, ", ".join(reasons)))
    return sorted(found, key=lambda item: (item[0].rank not in blame, WORST_FIRST.index(item[0].state), item[0].rank))


def _is_odd(state: RankState, states: Counter[RankState], total: int) -> bool:
    """Few are in it, or it is a sick one that less than half are in."""
    count = states[state]
    return count < total and (count <= total * _FEW or (state in _SICK and count < total / 2))


def _alone(job: Job) -> dict[int, str]:
    """Rank -> where it stands, of ranks in a group of stacks that holds few."""
    return {
        number: f"in {place(group.leaf)}"
        for group in job.stacks.groups
        if group.leaf is not None and len(group.ranks) <= len(job.ranks) * _FEW
        for number in group.ranks
    }


def ends(job: Job) -> list[tuple[int | None, list[Rank]]]:
    """Exit code -> the ranks that ended with it; who failed comes first, then whose code is not known."""
    ranks_of: dict[int | None, list[Rank]] = {}
    for rank in job.ranks:
        if not rank.is_alive:
            ranks_of.setdefault(rank.exit_code, []).append(rank)
    return sorted(ranks_of.items(), key=lambda item: (item[0] == 0, item[0] is None, item[1][0].rank))


def state_counts(ranks: Sequence[Rank]) -> list[tuple[RankState, int]]:
    """How many ranks are in each state, the sickest first."""
    counts = Counter(rank.state for rank in ranks)
    return [(state, counts[state]) for state in WORST_FIRST if counts[state]]
