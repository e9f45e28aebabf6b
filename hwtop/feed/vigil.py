"""Watch a job for hours at next to no cost: rarely while it makes progress, closely once something is unusual."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Generator, Sequence
from statistics import median

from msgspec import Struct

from hwtop.collectors.logs.user_patterns import watched_patterns
from hwtop.collectors.process.held import descriptor_of
from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.feed.address_space import check_address_space
from hwtop.feed.feed import Focus, Store, frames
from hwtop.feed.learn import Learner
from hwtop.feed.live import LIVE_STACK_BUDGET_PCT, LiveSource
from hwtop.feed.pulse import Pulse
from hwtop.feed.until import Condition, condition
from hwtop.job.hang.liveness import SUSPECT, phi_of_silence, rhythm_s
from hwtop.job.hang.stall import silence_s as silence_of
from hwtop.model.curve import Curve
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.plan import UserFocus
from hwtop.model.rank import Rank
from hwtop.symptoms.records import records

_OPENING_S = 20.0
"""The first look is a close one: as long as that of `hwtop diagnose`."""
_LEAST_PATIENCE_S = 1.5
"""With silent logs, before the job is looked at. Engineering default."""
_PATIENCE = 3.0
"""Times the usual time between two reports. Engineering default."""
_NEWEST, _SLOWER, _LEAST_BEFORE = 3, 1.5, 10
"""So many step times in a row that are by this factor above the level before, which so many values make: worth a close look.
Engineering defaults."""
_MOST_CLOSE_S = 60.0
"""What is still suspicious after so long is looked at rarely again: it has been a finding since, or is the job's way."""
_LONGEST_POLL_MS = 2**31 - 1
"""That poll(2) takes."""


class Pace(Struct, frozen=True):
    """How much looking costs."""

    interval_s: float
    stack_budget_pct: float
    """Share of one core for stacks."""


RARE = Pace(interval_s=12.0, stack_budget_pct=0.05)
CLOSE = Pace(interval_s=1.0, stack_budget_pct=LIVE_STACK_BUDGET_PCT)


class Attention:
    """How closely to look, from what was seen."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._suspicious_since_s: float | None = None
        self._silence_s = 0.0
        self._has_rhythm = False
        """Silence before the first reports, as of a start, says nothing about later ones."""
        self._usual_silence_s = 0.0
        """The longest after which the job went on: a log that is written in blocks, an evaluation."""

    def pace(self, frame: Frame, *, is_unusual: bool = False) -> Pace:
        """Of the time until the next frame. `is_unusual`: of the growth of the logs, of which the last look may know nothing yet."""
        now_s = frame.watched_s
        if not self._is_suspicious(frame.derived.job) and not is_unusual:
            self._suspicious_since_s = None
        elif self._suspicious_since_s is None:
            self._suspicious_since_s = now_s
        since_s = self._suspicious_since_s
        is_close = now_s < _OPENING_S or (since_s is not None and now_s - since_s < _MOST_CLOSE_S)
        return CLOSE if is_close else RARE

    def patience_s(self, frame: Frame) -> float | None:
        """How long the logs may be silent until the job is looked at; None where no report has a rhythm."""
        rhythms = _rhythms(frame.derived.job.ranks) if frame.derived.job is not None else []
        return max(_LEAST_PATIENCE_S, _PATIENCE * min(rhythms), self._usual_silence_s) if rhythms else None

    def _is_suspicious(self, job: Job | None) -> bool:
        """A rank is gone, makes no progress or slower steps, nothing is reported for unusually long, or all is over and the last lines
        are written."""
        if job is None or job.has_ended or not all(rank.is_alive for rank in job.ranks):
            return True
        is_stuck = any(rank.liveness is not None and rank.liveness.phi >= SUSPECT for rank in job.ranks)
        return self._is_silent(job.ranks) or is_stuck or any(map(_is_slower, job.metrics.curves))

    def _is_silent(self, ranks: Sequence[Rank]) -> bool:
        silence_s = silence_of(ranks)
        if silence_s < self._silence_s and self._has_rhythm:
            self._usual_silence_s = max(self._usual_silence_s, self._silence_s)
        rhythm = min(_rhythms(ranks), default=None)
        self._silence_s, self._has_rhythm = silence_s, rhythm is not None
        return silence_s > self._usual_silence_s and phi_of_silence(silence_s, rhythm) >= SUSPECT


def _rhythms(ranks: Sequence[Rank]) -> list[float]:
    return [each for rank in ranks if (each := rhythm_s(rank)) is not None]


def _is_slower(curve: Curve) -> bool:
    """The newest steps take longer than those before."""
    values = [point.value for point in curve.points] if curve.name == "step_time_s" else []
    earlier, newest = values[:-_NEWEST], values[-_NEWEST:]
    return len(earlier) >= _LEAST_BEFORE and median(newest) > _SLOWER * median(earlier)


def _hurry_at_the_end(pid: int, source: LiveSource, most_s: float) -> None:
    """For so long, look at once when this process ends: the others of its job are found to have ended, or not, at the next look anyway."""
    with contextlib.suppress(OSError):
        descriptor = descriptor_of(pid)
        if descriptor is not None:
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            if ended.poll(min(most_s * 1000, _LONGEST_POLL_MS)):
                source.interval_s = CLOSE.interval_s
            os.close(descriptor)


def conditions(events: Sequence[str]) -> list[Condition]:
    """The events as the user writes them; symptoms are hwtop's own and those of the user's log patterns.

    Raises:
        UsageError: one is not an event, or there is no such symptom.
    """
    known = {*records(), *(pattern.id for pattern in watched_patterns().registry.patterns)}
    return [condition(event, known) for event in events]


def vigil(
    target_pid: int,
    *,
    most_s: float,
    log_globs: tuple[str, ...] = (),
    gpus: tuple[int, ...] | None = None,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    learner: Learner | None = None,
    store: Store | None = None,
) -> Generator[Frame, None, None]:
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

    def hurry() -> None:
        source.interval_s = CLOSE.interval_s

    pulse = Pulse(hurry)
    pulse.start()
    threading.Thread(target=_hurry_at_the_end, args=(target_pid, source, most_s), name="hwtop-end", daemon=True).start()
    try:
        for frame in frames(source, focus, symptoms=symptoms, learner=learner, store=store):
            yield frame
            pace = attention.pace(frame, is_unusual=pulse.is_unusual)
            source.interval_s = max(min(pace.interval_s, most_s - frame.watched_s), CLOSE.interval_s)
            focus.user_focus = UserFocus(stack_budget_pct=pace.stack_budget_pct)
            job = frame.derived.job
            paths = [file.path for file in job.logs.files] if job is not None else []
            pulse.watch(paths, attention.patience_s(frame))
    finally:
        pulse.close()
        source.close()
