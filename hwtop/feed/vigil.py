"""Watch a job for hours at next to no cost: rarely while it makes progress, closely once something is unusual."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.feed.address_space import check_address_space
from hwtop.feed.feed import Focus, frames
from hwtop.feed.learn import Learner
from hwtop.feed.live import LIVE_STACK_BUDGET_PCT, LiveSource
from hwtop.job.hang.liveness import SUSPECT
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus

_OPENING_S = 20.0
"""The first look is a close one: as long as that of `hwtop diagnose`."""
_MOST_CLOSE_S = 60.0
"""What is still suspicious after so long is looked at rarely again: it has been a finding since, or is the job's way."""


class Pace(Struct, frozen=True):
    """How much looking costs."""

    interval_s: float
    stack_budget_pct: float
    """Share of one core for stacks."""


RARE = Pace(interval_s=10.0, stack_budget_pct=0.05)
CLOSE = Pace(interval_s=1.0, stack_budget_pct=LIVE_STACK_BUDGET_PCT)


class Attention:
    """How closely to look, from what was seen."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._suspicious_since_s: float | None = None

    def pace(self, frame: Frame) -> Pace:
        """Of the time until the next frame."""
        now_s = frame.watched_s
        if not _is_suspicious(frame):
            self._suspicious_since_s = None
        elif self._suspicious_since_s is None:
            self._suspicious_since_s = now_s
        since_s = self._suspicious_since_s
        is_close = now_s < _OPENING_S or (since_s is not None and now_s - since_s < _MOST_CLOSE_S)
        return CLOSE if is_close else RARE


def vigil(
    target_pid: int,
    *,
    most_s: float,
    log_globs: tuple[str, ...] = (),
    gpus: tuple[int, ...] | None = None,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    learner: Learner | None = None,
) -> Iterator[Frame]:
    """Frames until the caller has seen enough; the last one is due after `most_s`.

    Raises:
        CannotError: the limit on address space is too low.
    """
    check_address_space()
    source = LiveSource(
        target_pid=target_pid,
        interval_s=CLOSE.interval_s,
        log_globs=log_globs,
        gpus=gpus,
        stack_budget_pct=CLOSE.stack_budget_pct,
    )
    attention, focus = Attention(), Focus()
    try:
        for frame in frames(source, focus, symptoms=symptoms, learner=learner):
            yield frame
            pace = attention.pace(frame)
            source.interval_s = max(min(pace.interval_s, most_s - frame.watched_s), CLOSE.interval_s)
            focus.user_focus = UserFocus(stack_budget_pct=pace.stack_budget_pct)
    finally:
        source.close()


def _is_suspicious(frame: Frame) -> bool:
    """A rank is gone, or makes no progress for unusually long; or all is over, and the last lines are being written."""
    job = frame.derived.job
    if job is None or job.has_ended:
        return True
    return any(not rank.is_alive or (rank.liveness is not None and rank.liveness.phi >= SUSPECT) for rank in job.ranks)
