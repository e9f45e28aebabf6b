"""A signal that was sent, and what has come of it so far. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.launch.signals import title
from hwtop.model.frame import Frame
from hwtop.model.member import JobProcess
from hwtop.model.signal import SignalAnswer

PATIENCE_S = 5.0
"""After which those are told that have not done what was asked: long enough for a handler that saves nothing, shorter than the 30 s
after which torchrun kills; engineering default."""
_MOST_NAMES = 3

_ENDED = ("has ended", "have ended", "still runs", "still run")
_OUTCOMES: dict[str, tuple[str, str, str, str]] = {
    "SIGTERM": _ENDED,
    "SIGINT": _ENDED,
    "SIGKILL": _ENDED,
    "SIGSTOP": ("is paused", "are paused", "is not paused", "are not paused"),
    "SIGCONT": ("goes on", "go on", "is still paused", "are still paused"),
}
"""What is expected of one and of several, and its contrary. What other signals do, only the job knows."""


class Signalled(Struct, frozen=True):
    """To whom it went."""

    name: str
    sent: tuple[JobProcess, ...]
    wanted: int
    """How many it was meant for."""
    errors: tuple[str, ...]
    """Why the others did not get it, with what would help."""
    at_s: float
    """Time of the newest frame then, as `DerivedState.at_s`."""
    job_pid: int
    """Of the job that they belong to."""

    def words(self) -> str:
        """Whom it was sent to, and why not to the others."""
        parts = [self._sent()] if self.sent else []
        parts += self.errors[:_MOST_NAMES]
        if len(self.errors) > _MOST_NAMES:
            parts.append(f"{len(self.errors) - _MOST_NAMES} more failed")
        return "; ".join(parts) or f"{self.name} was sent to nobody: no process is known well enough"

    def result(self, frame: Frame) -> str | None:
        """What has come of it, once there is something to say; None while it is still waited for."""
        job, waited_s = frame.derived.job, frame.derived.at_s - self.at_s
        if job is None or job.target_pid != self.job_pid or self.name not in _OUTCOMES or not self.sent:
            return None
        now = {(item.pid, item.start_ticks): item for item in job.processes}
        open_ = [item for item in self.sent if not _is_done(self.name, now.get((item.pid, item.start_ticks)))]
        does, do, not_does, not_do = _OUTCOMES[self.name]
        if not open_:
            return f"{self._sent()}: {f'it {does}' if len(self.sent) == 1 else f'all {do}'}"
        if waited_s < PATIENCE_S:
            return None
        names = ", ".join(title(item) for item in open_[:_MOST_NAMES])
        names += f" and {len(open_) - _MOST_NAMES} more" if len(open_) > _MOST_NAMES else ""
        after = units.duration(round(waited_s))
        if len(self.sent) == 1:
            return f"{self._sent()}: it {not_does} after {after}"
        return f"{self._sent()}: {len(open_)} {not_does if len(open_) == 1 else not_do} after {after} ({names})"

    def is_over(self, frame: Frame) -> bool:
        """Nothing more will be said."""
        job = frame.derived.job
        is_elsewhere = job is None or job.target_pid != self.job_pid
        return is_elsewhere or self.name not in _OUTCOMES or frame.derived.at_s - self.at_s >= PATIENCE_S

    def _sent(self) -> str:
        if self.wanted == 1:
            return f"{self.name} sent to PID {self.sent[0].pid}"
        return f"{self.name} sent to {len(self.sent)} of {self.wanted} processes"


def signalled(
    name: str, wanted: Sequence[JobProcess], answers: Sequence[SignalAnswer], at_s: float, job_pid: int
) -> Signalled:
    """What the answers to an order say."""
    reached = {answer.pid for answer in answers if answer.error is None}
    return Signalled(
        name=name,
        sent=tuple(item for item in wanted if item.pid in reached),
        wanted=len(wanted),
        errors=tuple(
            f"{answer.error}{f': {answer.advice}' if answer.advice else ''}" for answer in answers if answer.error
        ),
        at_s=at_s,
        job_pid=job_pid,
    )


def _is_done(name: str, item: JobProcess | None) -> bool:
    if item is None or item.state in ("Z", "X"):
        return True
    if name == "SIGSTOP":
        return item.state in ("T", "t")
    return name == "SIGCONT" and item.state not in ("T", "t")
