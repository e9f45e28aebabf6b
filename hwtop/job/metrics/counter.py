"""Counter: the column of a table that counts its rows' steps, where no name says so: `chunk`, `tick`."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import pairwise

from hwtop.job.metrics.names import meaning
from hwtop.job.progress.field_names import spaced
from hwtop.job.progress.schema import NO_STEP, SURE_WITHOUT_WORDS


class Counter:
    """Takes the rows of one table in order."""

    def __init__(self) -> None:
        self._rows: deque[Mapping[str, float]] = deque(maxlen=SURE_WITHOUT_WORDS)

    def take(self, row: Mapping[str, float]) -> str | None:
        """The first column of whole numbers that grow by the same from row to row; None before there are rows enough to tell."""
        self._rows.append(row)
        if len(self._rows) < SURE_WITHOUT_WORDS:
            return None
        return next((name for name in row if self._counts(name)), None)

    def _counts(self, name: str) -> bool:
        if meaning(name) is not None or name[:1] == "_" or NO_STEP.fullmatch(spaced(name.lower())) is not None:
            return False
        values = [row.get(name) for row in self._rows]
        whole = [value for value in values if value is not None and value.is_integer()]
        steps = {later - earlier for earlier, later in pairwise(whole)}
        return len(whole) == len(values) and len(steps) == 1 and min(steps) > 0
