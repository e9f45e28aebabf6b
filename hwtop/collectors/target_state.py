"""The state of one process right before and after something was done to it: /proc/PID/status and stat, which never block."""

from __future__ import annotations

from msgspec import Struct

_STOPPED = ("T", "t")


class TargetState(Struct, frozen=True, kw_only=True):
    """What decides whether a process was harmed."""

    state: str
    """One letter of proc(5)."""
    tracer_pid: int
    uid: int
    """Effective."""
    start_ticks: int
    """With the pid it identifies the process for ever."""
    caught_signals: int
    """SigCgt mask."""

    @property
    def is_held(self) -> bool:
        """Stopped, or under a debugger."""
        return self.state in _STOPPED or self.tracer_pid != 0


def read_state(pid: int, proc: str = "/proc") -> TargetState | None:
    """The state of `pid` now; None when it is gone or hidden."""
    try:
        with open(f"{proc}/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        with open(f"{proc}/{pid}/stat") as file:
            start_ticks = int(file.read().rsplit(")", 1)[1].split()[19])
        return TargetState(
            state=fields["State"].split()[0],
            tracer_pid=int(fields.get("TracerPid", "0")),
            uid=int(fields["Uid"].split()[1]),
            start_ticks=start_ticks,
            caught_signals=int(fields.get("SigCgt", "0"), 16),
        )
    except (OSError, ValueError, KeyError, IndexError):
        return None
