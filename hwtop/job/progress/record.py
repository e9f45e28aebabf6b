"""Record: a dict or a JSON object that is printed over several lines, one pair a line.

Sources: TensorFlow Model Garden's orbit/controller.py (`train | step: 10 | output:` and a pretty-printed dict behind it), Detectron's
json_stats, `pprint` of a dict of metrics.
"""

from __future__ import annotations

import re

from hwtop.job.progress.found import found_in
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_PAIR = lazy_regex(
    r"""\s*\{?[-*\s]*(?P<quote>["']?)[A-Za-z][\w/ .()-]*?(?P=quote)\s*[:=]\s*(?:[-+]?[\d.]+(?:e[-+]?\d+)?(?: ?[a-z%µ]+(?:/[a-z]+)?)?|["'][^"']*["']|nan|-?inf|null|none|true|false)\s*[,}]?\s*""",
    re.IGNORECASE,
)
"""Quoted or not, behind a bullet or not."""
_OPENING = ("{", ",", ":")
"""Ends of a line that goes on in the next one."""
_READ_CHARS = 256


class Record:
    """Open from the line that tells a step, an epoch or a loss and goes on, to the first one that is no pair.

    A line goes on that ends so, or that tells a counter and nothing else.
    """

    def __init__(self) -> None:
        self._is_open = False
        self._is_of_step = False

    def row(self, text: str) -> Progress | None:
        """What a pair of the open record tells, such as `"lr": 0.001,`, which by itself might be a setting."""
        if not self._is_open or not _is_pair(text):
            return None
        found = found_in(text)
        found.is_per_step = self._is_of_step  # under an epoch a time is that of the epoch
        return found.progress()

    def see(self, text: str, progress: Progress | None) -> None:
        """Take note of each line after it was read: `progress` is what it told by itself."""
        is_row = self._is_open and _is_pair(text)
        if progress is not None and (
            progress.step is not None or progress.epoch is not None or progress.loss is not None
        ):
            self._is_open = (
                text.rstrip().endswith(_OPENING) or is_heading(progress) or (is_row and progress.step is None)
            )
            self._is_of_step = progress.step is not None or (is_row and self._is_of_step)
        elif self._is_open and text.strip():
            self._is_open = is_row


def is_heading(progress: Progress) -> bool:
    """The line tells a counter and nothing that was counted or measured."""
    return progress == Progress(
        step=progress.step, total_steps=progress.total_steps, epoch=progress.epoch, total_epochs=progress.total_epochs
    )


def _is_pair(text: str) -> bool:
    return len(text) <= _READ_CHARS and _PAIR.fullmatch(text) is not None
