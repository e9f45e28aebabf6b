"""Record: a dict or a JSON object that is printed over several lines, one pair a line.

Sources: TensorFlow Model Garden's orbit/controller.py (`train | step: 10 | output:` and a pretty-printed dict behind it), Detectron's
json_stats, `pprint` of a dict of metrics.
"""

from __future__ import annotations

import re

from hwtop.job.progress.found import found_in
from hwtop.model.log import Progress

_PAIR = re.compile(
    r"""\s*\{?\s*(["'])[\w/ .()-]+\1\s*:\s*(?:[-+]?[\d.]+(?:e[-+]?\d+)?|["'][^"']*["']|nan|-?inf|null|none|true|false)\s*[,}]?\s*""",
    re.IGNORECASE,
)
_OPENING = ("{", ",", ":")
"""Ends of a line that goes on in the next one."""
_LONGEST = 256


class Record:
    """Open from the line that tells a step or a loss to the first one that is no pair."""

    def __init__(self) -> None:
        self._is_open = False

    def row(self, text: str) -> Progress | None:
        """What a pair of the open record tells, such as `"lr": 0.001,`, which by itself might be a setting."""
        if not self._is_open or not _is_pair(text):
            return None
        found = found_in(text)
        found.is_per_step = True
        return found.progress()

    def see(self, text: str, progress: Progress | None) -> None:
        """Take note of each line after it was read: `progress` is what it told by itself."""
        if progress is not None and (progress.step is not None or progress.loss is not None):
            self._is_open = text.rstrip().endswith(_OPENING)
        elif self._is_open:
            self._is_open = _is_pair(text)


def _is_pair(text: str) -> bool:
    return len(text) <= _LONGEST and _PAIR.fullmatch(text) is not None
