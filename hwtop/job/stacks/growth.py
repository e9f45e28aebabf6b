"""What takes more of the time than it did a minute ago, by the samples of one process. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt

from hwtop.job.stacks.frames import short_name
from hwtop.model.evidence import SURE
from hwtop.model.rank_stack import GrownShare
from hwtop.model.stack import StackFrame

_LEAST = 25
"""Samples in each third of the window. Engineering default."""
_KEPT = 3

_Place = tuple[str, str, int]
"""Function, file and line; line 0 stands for the whole function."""


def grown_shares(samples: Sequence[tuple[float, StackFrame | None]]) -> tuple[GrownShare, ...]:
    """Functions and lines of the user with a larger share of the last third of the samples than of the first, the most grown first.

    Args:
        samples: when, and the innermost frame of the user's own code; in order of time.
    """
    count = len(samples) // 3
    if count < _LEAST:
        return ()
    first, last = samples[:count], samples[-count:]
    before, now = _counts(first), _counts(last)
    grown = [
        GrownShare(
            function=place[0],
            file=place[1],
            line=place[2],
            before=before[place] / count,
            now=now[place] / count,
            first_s=(first[0][0], first[-1][0]),
            last_s=(last[0][0], last[-1][0]),
        )
        for place in now
        if _is_sure(before[place] / count, now[place] / count, count)
    ]
    # A line that is all that has grown of its function tells more than the function.
    return tuple(sorted(grown, key=lambda each: (each.before - each.now, each.line == 0))[:_KEPT])


def _counts(samples: Iterable[tuple[float, StackFrame | None]]) -> Counter[_Place]:
    counts: Counter[_Place] = Counter()
    for _, user in samples:
        if user is not None:
            function = short_name(user.name)
            counts[function, user.short_filename, 0] += 1
            counts[function, user.short_filename, user.line] += 1
    return counts


def _is_sure(before: float, now: float, count: int) -> bool:
    mean = (before + now) / 2
    return now - before > SURE * sqrt(2 * mean * (1 - mean) / count)
