"""A log file that is followed: what it has brought, and why it brings nothing."""

from __future__ import annotations

from dataclasses import dataclass

from hwtop.collectors.logs.output import Output
from hwtop.collectors.logs.tail import Tail, TailReading
from hwtop.model.reported.log import LogFile

_SLOW_S = 0.5
"""A read that takes longer is reported."""


@dataclass
class Followed:
    """One file, and what it has brought."""

    output: Output
    tail: Tail
    wanted_at_s: float
    reading: TailReading | None = None
    """Not taken yet."""
    error: str | None = None
    began_s: float | None = None
    """When the read that is out began."""
    brought: int = 0
    """Lines of the last read."""
    skipped: int = 0
    size_bytes: int | None = None
    behind_bytes: int = 0
    modified_s: float | None = None
    content_since_s: float | None = None

    @property
    def is_nothing(self) -> bool:
        """May be missing, and is."""
        return self.output.may_lack and self.size_bytes is None

    def take(self) -> TailReading | None:
        """What it has brought since the last time; also of a read that was late."""
        reading, self.reading = self.reading, None
        if reading is None:
            return None
        if reading.size_bytes is not None:
            self.size_bytes, self.modified_s = reading.size_bytes, reading.modified_s
        self.behind_bytes = reading.behind_bytes
        self.skipped += reading.skipped
        self.error = reading.reason
        return reading

    def file(self, now_s: float, wall_s: float) -> LogFile:
        """As it stands: `now_s` on the monotonic clock, `wall_s` the time of day."""
        modified_s, began_s, reason = self.modified_s, self.began_s, self.error
        since_s = self.content_since_s
        out_s = 0.0 if began_s is None else now_s - began_s
        if began_s is not None and (self.size_bytes is None or out_s > _SLOW_S):
            reason = f"file system not answering for {out_s:.0f} s"
        return LogFile(
            path=self.tail.path,
            pids=self.output.pids,
            size_bytes=self.size_bytes,
            age_s=None if modified_s is None else max(0.0, wall_s - modified_s),
            reason=reason,
            skipped_lines=self.skipped,
            behind_bytes=self.behind_bytes,
            content_age_s=None if since_s is None else max(0.0, wall_s - since_s),
        )
