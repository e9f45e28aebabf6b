"""Watch a job without a screen."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.errors import CannotError
from hwtop.feed.address_space import check_address_space
from hwtop.feed.feed import Store, frames
from hwtop.feed.learn import Learner
from hwtop.feed.live import LiveSource
from hwtop.model.frame import Frame
from hwtop.symptoms.blind import ANSWERED_S

LAST_WORDS_S = 5.0
"""How long a job is still watched after its end: its launcher writes the summary last."""
RATES_S = 1.0
"""Rates need two readings, this far apart."""
_FIRST_STACKS_S = 3.0
"""Enough for rates and the first stacks."""
HEADLESS_STACK_BUDGET_PCT = 4.0
"""Share of one core for stacks in a short run: 20 s need 20 samples per rank now, not over a minute."""


def watch(
    target_pid: int | None,
    *,
    seconds: float,
    interval_s: float = 0.5,
    log_globs: tuple[str, ...] = (),
    gpus: tuple[int, ...] | None = None,
    gpu_costs: bool = False,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    learner: Learner | None = None,
    store: Store | None = None,
    stack_budget_pct: float = HEADLESS_STACK_BUDGET_PCT,
) -> Generator[Frame, None, None]:
    """Frames of the next `seconds`, at least two of them (rates need two). Ends early once the job has ended.

    On a busy machine the processes may be read later than that: they are waited for, `ANSWERED_S` at most.

    Raises:
        CannotError: the limit on address space is too low.
    """
    check_address_space()
    source = LiveSource(
        target_pid=target_pid,
        interval_s=interval_s,
        log_globs=log_globs,
        gpus=gpus,
        gpu_costs=gpu_costs,
        stack_budget_pct=stack_budget_pct,
    )
    try:
        for frame in frames(source, symptoms=symptoms, learner=learner, store=store):
            yield frame
            job = frame.derived.job
            has_ended = job is not None and (job.ended_for_s or 0.0) > LAST_WORDS_S
            is_answered = target_pid is None or job is not None or frame.watched_s >= ANSWERED_S
            if frame.number >= 2 and is_answered and (frame.watched_s >= seconds or has_ended):
                return
    finally:
        source.close()


def first_verdict(frames_to_come: Iterator[Frame]) -> Frame:
    """The first frame that has rates and stacks, and a finding of warning or above or enough time for none; else the last one."""
    for frame in frames_to_come:
        is_found = any(finding.severity != "info" for finding in frame.findings)
        if frame.watched_s >= _FIRST_STACKS_S and (is_found or frame.derived.job is None):
            break
    return frame


def check_job(frame: Frame, target_pid: int | None) -> None:
    """Whether a watch has seen the job of this process.

    Raises:
        CannotError: the process could not be read.
    """
    if frame.derived.job is None:
        reasons = "; ".join(spot.reason for spot in frame.blind if spot.source in ("process", "hwtop"))
        raise CannotError(f"cannot read process {target_pid}: {reasons or 'it has ended, or /proc does not answer'}")


def last_frame(frames_to_come: Iterator[Frame], each: Callable[[Frame], None] = lambda _: None) -> Frame:
    """The result of the whole run. `each` gets every frame."""
    for frame in frames_to_come:
        each(frame)
    return frame
