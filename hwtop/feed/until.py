"""Until: the events that `hwtop wait` returns on. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from math import isfinite
from typing import Literal

from msgspec import Struct

from hwtop.errors import CannotError, UsageError
from hwtop.job.exit_code import exit_words
from hwtop.job.hang.stall import silence_s
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.symptom import AT_LEAST, Finding
from hwtop.symptoms.records import records

Reason = Literal["ended", "stalled", "symptom", "reached", "timeout"]
_NO_ANSWER_S = 5.0
"""A job of which nothing has been read for so long cannot be read."""
_LAST_WORDS_S = 2.0
"""A job that has ended is watched so much longer: its launcher writes the summary last."""
_FORM = re.compile(
    r"(?P<kind>ended|stalled|symptom)(?::(?P<symptom>[\w.-]+))?|step=(?P<step>\d{1,15})|loss<(?P<loss>.+)"
)


class Condition(Struct, frozen=True, kw_only=True):
    """One event to wait for."""

    kind: Literal["ended", "stalled", "symptom", "step", "loss"]
    symptom: str | None = None
    """None: any of severity warning or above."""
    value: float = 0.0


class Event(Struct, frozen=True, kw_only=True):
    """Why the wait is over."""

    reason: Reason
    text: str


def condition(text: str, symptoms: Container[str]) -> Condition:
    """`ended`, `stalled`, `symptom`, `symptom:ID` with one of `symptoms`, `step=N` or `loss<X`.

    Raises:
        UsageError: it is none of them, or there is no such symptom.
    """
    found = _FORM.fullmatch(text.strip())
    if found is not None and found["step"] is not None:
        return Condition(kind="step", value=float(found["step"]))
    if found is not None and found["loss"] is not None:
        return Condition(kind="loss", value=_number(found["loss"]))
    if found is None or (found["symptom"] is not None and found["kind"] != "symptom"):
        raise UsageError(f"{text!r} is not an event: use ended, stalled, symptom, symptom:ID, step=N or loss<X")
    if found["symptom"] is not None:
        if found["symptom"] not in symptoms:
            raise UsageError(f"no symptom {found['symptom']!r}: use one of `hwtop symptoms`")
        return Condition(kind="symptom", symptom=found["symptom"])
    kind: Literal["ended", "stalled", "symptom"] = found["kind"]  # type: ignore[assignment]  # by its form
    return Condition(kind=kind)


def first_event(
    target_pid: int,
    coming: Iterable[Frame],
    conditions: Sequence[Condition],
    *,
    quiet_for_s: float | None,
    timeout_s: float,
    each: Callable[[Frame], None] = lambda _: None,
) -> tuple[Frame, Event]:
    """The first event in the frames to come of this job, with the frame that shows it. `each` gets every frame.

    Raises:
        CannotError: the job cannot be read.
    """
    for frame in coming:
        each(frame)
        found = event(frame, conditions, quiet_for_s)
        if found is None and frame.watched_s >= timeout_s:
            found = Event(reason="timeout", text=f"nothing of it in {frame.watched_s:.0f} s")
        if found is not None:
            return frame, found
        if frame.derived.job is None and frame.watched_s >= _NO_ANSWER_S:
            break
    raise CannotError(f"cannot read process {target_pid}: it has ended, or /proc does not answer")


def event(frame: Frame, conditions: Sequence[Condition], quiet_for_s: float | None) -> Event | None:
    """The first that has happened. The end of the job always counts: nothing else can happen after it."""
    job = frame.derived.job
    if job is None:
        return None
    if job.has_ended:
        return _ended(job) if (job.ended_for_s or 0.0) >= _LAST_WORDS_S else None
    for one in conditions:
        found = _symptom(frame, one) if one.kind in ("stalled", "symptom") else _reached(job, one)
        if found is not None:
            return found
    live = [rank for rank in job.ranks if rank.is_alive]
    quiet_s = silence_s(live) if live else 0.0
    if quiet_for_s is not None and quiet_s >= quiet_for_s:
        return Event(reason="stalled", text=f"no log line and no step for {quiet_s:.0f} s")
    return None


def newest_loss(job: Job) -> float | None:
    """The one of the lowest rank that reports any; None where none is finite."""
    losses = (rank.progress.newest.loss for rank in job.ranks if rank.progress.newest)
    return next((loss for loss in losses if loss is not None and isfinite(loss)), None)


def newest_step(job: Job) -> int | None:
    """The highest of all ranks."""
    steps = [rank.progress.newest.step for rank in job.ranks if rank.progress.newest]
    return max((step for step in steps if step is not None), default=None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number: use e.g. loss<2.5") from None


def _ended(job: Job) -> Event:
    return Event(reason="ended", text=f"the job has ended, {exit_words(job.exit_code)}")


def _symptom(frame: Frame, one: Condition) -> Event | None:
    for finding in frame.findings:
        if _is_meant(finding, one):
            return Event(reason="stalled" if one.kind == "stalled" else "symptom", text=finding.title)
    return None


def _is_meant(finding: Finding, one: Condition) -> bool:
    if one.symptom is not None:
        return finding.symptom == one.symptom
    if finding.severity not in AT_LEAST["warning"]:
        return False
    record = records().get(finding.symptom)
    return one.kind == "symptom" or (record is not None and "hung" in record.questions)


def _reached(job: Job, one: Condition) -> Event | None:
    step, loss = newest_step(job), newest_loss(job)
    if one.kind == "step" and step is not None and step >= one.value:
        return Event(reason="reached", text=f"step {step}")
    if one.kind == "loss" and loss is not None and loss < one.value:
        return Event(reason="reached", text=f"loss {loss:g}")
    return None
