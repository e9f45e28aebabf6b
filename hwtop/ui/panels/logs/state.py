"""What the logs page remembers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.reported.log import LogLine
from hwtop.ui.view import OwnState

SEARCH = "search"
"""Where `View.filters` keeps the word that is looked for; it is marked in the lines, and hides none."""

LogInside = Literal["", "context", "others"]
"""What stands below the lines: nothing, the marked line with those around it, what the other ranks wrote then."""


class LogsState(Struct, OwnState, frozen=True):
    """At the newest line at the start."""

    is_following: bool = True
    """New lines push the old ones up; else the lines in sight stay."""
    mark: LogLine | None = None
    """The line that was jumped to or clicked at."""
    inside: LogInside = ""
