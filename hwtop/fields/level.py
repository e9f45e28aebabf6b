"""Level: from which value on a number is a warning, or critical."""

from __future__ import annotations

from collections.abc import Mapping
from sys import float_info
from typing import Literal

from msgspec import Struct

Alarm = Literal["warning", "critical"]


class Level(Struct, frozen=True, kw_only=True):
    """Where a number leaves the range that is fine; None = it never is that bad."""

    warning: float | None = None
    critical: float | None = None
    is_low: bool = False
    """The low end is the bad one: the value must fall below the limit, not reach it."""
    source: str = ""
    """The symptom whose rule has these limits; "" where no rule checks this number."""

    def alarm(self, value: float | None) -> Alarm | None:
        """How bad `value` is; None where it is fine or unknown."""
        if value is None:
            return None
        if self.critical is not None and self._reaches(value, self.critical):
            return "critical"
        return "warning" if self.warning is not None and self._reaches(value, self.warning) else None

    @property
    def limits(self) -> tuple[float, ...]:
        """Those that are set, the warning first."""
        return tuple(limit for limit in (self.warning, self.critical) if limit is not None)

    def _reaches(self, value: float, limit: float) -> bool:
        return value < limit if self.is_low else value >= limit


Levels = Mapping[str, Level]
"""By the id of the field."""

ANY = Level(warning=float_info.min)
"""Any at all is worth a look, e.g. an error of an interface."""
