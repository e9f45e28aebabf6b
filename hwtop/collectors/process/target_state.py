"""The state of one process right before and after something was done to it. Reads only what never blocks."""

from __future__ import annotations

from msgspec import Struct

from hwtop.collectors.process.files import read_stat, read_status


class TargetState(Struct, frozen=True, kw_only=True):
    """Enough to decide whether a process is still the same, and unharmed."""

    state: str
    """Of its main thread, one letter of proc(5)."""
    tracer_pid: int
    uid: int | None
    start_ticks: int
    """With the pid it identifies a process for ever."""
    caught_signals: int | None
    """SigCgt mask."""

    @property
    def is_held(self) -> bool:
        """Stopped, or under a debugger."""
        return self.state in ("T", "t") or self.tracer_pid != 0


def read_state(pid: int, proc: str = "/proc") -> TargetState | None:
    """The state of `pid` now; None when it is gone or hidden."""
    try:
        stat = read_stat(f"{proc}/{pid}")
        status = read_status(f"{proc}/{pid}")
    except (OSError, ValueError):
        return None
    return TargetState(
        state=stat.state,
        tracer_pid=status.tracer_pid or 0,
        uid=status.uid,
        start_ticks=stat.start_ticks,
        caught_signals=status.caught_signals,
    )
