"""Regular expressions that are compiled when they are first used. Those that read logs, 280 of them, would take a tenth of the start."""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast


class _Lazy(Generic[AnyStr]):
    """Stands for a compiled one. What is asked of that is kept as an attribute, so that later uses cost nothing."""

    pattern: AnyStr

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """A method or an attribute of `re.Pattern`."""
        found: object = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for constants of a module. An error in the pattern is raised when it is first used."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
