"""Lost values: what stood next to the step as a number, under whatever name, and is nan or infinite now."""

from __future__ import annotations

import re
from math import isfinite

from msgspec.structs import replace

from hwtop.job.progress.field_names import is_foreign, name_of
from hwtop.job.progress.fields import fields
from hwtop.lazy_regex import lazy_regex
from hwtop.model.rank import LostValue

_NOT_A_NUMBER = lazy_regex(r"\b(?:nan|inf)", re.IGNORECASE)
_READ_CHARS = 2048


class LostValues:
    """Of the lines with a step of one file, in order. What was never a number there may not have begun: it is left out."""

    def __init__(self) -> None:
        self.newest: tuple[LostValue, ...] = ()
        """Those that are no number in the newest line that has them."""
        self._whole = ""
        """The newest line in which all were numbers."""

    def take(self, text: str, count: int, counter: str = "step") -> None:
        """The next line with a step, or with an epoch where it has none."""
        text = text[:_READ_CHARS]
        if _NOT_A_NUMBER.search(text) is None:
            self._whole, self.newest = text, ()
            return
        known = {lost.name: lost for lost in self.newest}
        were = _values(self._whole).keys() | known.keys()
        self.newest = tuple(
            replace(known[name], lines=known[name].lines + 1)
            if name in known
            else LostValue(name=name, since_step=count, counter=counter, lines=1)
            for name, value in _values(text).items()
            if not isfinite(value) and name in were
        )


def _values(text: str) -> dict[str, float]:
    """Those that are not read as something, by their name; of one without a name by its place among all numbers of such a line."""
    row = list(fields(text))
    return {
        field.key or f"number {place} of {len(row)}": field.value
        for place, field in enumerate(row, start=1)
        if name_of(field.key) is None and not is_foreign(field.key)
    }
