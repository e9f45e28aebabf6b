"""Labels: whole numbers of a progress line that are no quantity known to hwtop. Those that rest say of what task or stage the line is."""

from __future__ import annotations

import sys

from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_MOST = 4
"""Of one line. Engineering default."""
_READ_CHARS = 400
_LABEL = lazy_regex(r"([^\W\d_]\w{1,23})\s?[:= ]\s?(\d{1,4})(?![\w%]|[.,:/-]\d)")


def labels_of(text: str, progress: Progress) -> tuple[str, ...]:
    """ "level 3" of `step 40 level=3 loss 0.5`; its counters left out."""
    counters = {progress.step, progress.total_steps, progress.epoch, progress.total_epochs}
    found = ((name, int(number)) for name, number in _LABEL.findall(text[:_READ_CHARS]))
    return tuple(sys.intern(f"{name} {number}") for name, number in found if number not in counters)[:_MOST]
