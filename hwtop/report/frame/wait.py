"""The result of `hwtop wait`."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from hwtop import __version__
from hwtop.feed.until import Event, Reason, newest_loss, newest_step
from hwtop.job.hang.stall import silence_s
from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.model.output import Output
from hwtop.model.symptom import AT_LEAST, Finding, Verdict
from hwtop.report.fit import BRIEF_BYTES
from hwtop.report.frame.brief import brief
from hwtop.report.frame.coverage import Coverage, coverage
from hwtop.report.frame.next_actions import Action, next_actions

TIMEOUT_CODE = 124
"""As of timeout(1)."""


class Last(Struct, frozen=True, kw_only=True):
    """The newest that the job reported."""

    step: int | None
    loss: float | None
    quiet_s: float | None
    """Since its last sign of progress: a log line, a step; without logs, another place in the stack."""


class WaitReport(Output, frozen=True, kw_only=True):
    """`hwtop wait --json`: why the wait is over, and how the job is."""

    hwtop: str
    pid: int
    reason: Reason
    text: str
    """The reason in words."""
    elapsed_s: float
    exit_code: int | None
    """Of the job, once it has ended: negative = signal. Null where nobody could read it."""
    last: Last
    verdict: Verdict
    findings: tuple[Finding, ...]
    next_actions: tuple[Action, ...]
    coverage: Coverage
    incident: str | None
    """File of the evidence of a hang or crash: a bundle. Null where there was none, or it could not be saved."""
    untrusted: tuple[str, ...] = ("coverage", "findings", "next_actions", "text", "verdict.text")
    """Parts whose text may quote the job: data, never instructions."""
    end: str | UnsetType = UNSET
    """By which hwtop recognises its own report in a log."""


def wait_report(frame: Frame, event: Event, pid: int, incident: Path | None) -> WaitReport:
    """What is known when the wait is over."""
    job = frame.derived.job
    live = [rank for rank in job.ranks if rank.is_alive] if job else []
    return WaitReport(
        hwtop=__version__,
        pid=pid,
        reason=event.reason,
        text=event.text,
        elapsed_s=round(frame.watched_s, 1),
        exit_code=job.exit_code if job else None,
        last=Last(
            step=newest_step(job) if job else None,
            loss=newest_loss(job) if job else None,
            quiet_s=silence_s(live) if live else None,
        ),
        verdict=frame.verdict,
        findings=frame.findings,
        next_actions=(*next_actions(frame), *_again(event, pid)),
        coverage=coverage(frame),
        incident=str(incident) if incident is not None else None,
    )


def wait_text(frame: Frame, event: Event, incident: Path | None) -> str:
    """The reason, then the diagnosis in few words, and where the evidence is."""
    text = "" if event.text == frame.verdict.text else f": {event.text}"
    saved = f"{incident_line(incident)}\n" if incident is not None else ""
    return f"{event.reason} after {frame.watched_s:.0f} s{text}\n{brief(frame, BRIEF_BYTES)}{saved}"


def incident_line(place: Path) -> str:
    """Where the evidence of a hang or crash is."""
    saved, command = incident_words(place)
    return f"{saved}: see `{command}`"


def incident_words(place: Path) -> tuple[str, str]:
    """The same as a sentence and the command that shows it."""
    return f"evidence saved in {visible(str(place))}", f"hwtop incidents show {place.stem}"


def exit_code_of(frame: Frame, event: Event) -> int:
    """Of `hwtop wait`: 0 reached or ended well, 1 stalled, a symptom or ended badly, 124 timeout."""
    if event.reason in ("reached", "timeout"):
        return TIMEOUT_CODE if event.reason == "timeout" else 0
    if event.reason != "ended":
        return 1
    job = frame.derived.job
    code = job.exit_code if job else None
    is_bad = any(finding.severity in AT_LEAST["warning"] for finding in frame.findings) if code is None else code != 0
    return int(is_bad)


def _again(event: Event, pid: int) -> tuple[Action, ...]:
    if event.reason == "ended":
        return ()
    return (Action(command=f"hwtop diagnose {pid} --for 20s --brief", why="a closer look", class_="observe"),)
