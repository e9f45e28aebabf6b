"""The lines of user code that many samples were at. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from hwtop.job.stacks.frames import short_name
from hwtop.model.rank_stack import HotLine, Phase
from hwtop.model.stack import StackFrame

SHOWN_LINES = 12


def hot_lines(samples: Iterable[tuple[Phase, StackFrame | None]]) -> tuple[HotLine, ...]:
    """(phase, innermost user frame) of each sample of a window in order of time, to its hottest lines. Shares are of all samples."""
    every = list(samples)
    counts = Counter((phase, user) for phase, user in every if user is not None)
    visits = Counter(place for place, _ in groupby(every))
    return tuple(
        HotLine(
            function=short_name(user.name),
            file=user.short_filename,
            line=user.line,
            code=user.code,
            phase=phase,
            share=count / len(every),
            samples=count,
            visits=visits[phase, user],
        )
        for (phase, user), count in counts.most_common(SHOWN_LINES)
    )
