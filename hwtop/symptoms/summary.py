"""The diagnosis for somebody else: as one line, and as a few lines for a chat or an issue. Pure."""

from __future__ import annotations

from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.symptom import Finding
from hwtop.seconds import span
from hwtop.symptoms.text import counted

SHOWN_CHARS = 280
"""Of one line: what chats show without folding it."""
_SHOWN_EVIDENCE = 3
"""Lines of it in a few lines."""


def cut(text: str) -> str:
    """A text as one line for a chat."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"


def one_line(frame: Frame) -> str:
    """The verdict, with id and confidence of the finding that decides."""
    decides = _decides(frame)
    kind = f" ({decides.symptom}, confidence {100 * decides.confidence:.0f} %)" if decides else ""
    return cut(f"{frame.verdict.level}: {frame.verdict.text}{kind}")


def few_lines(frame: Frame) -> str:
    """The verdict, which job this is and how far, what shows it, and the next step."""
    decides = _decides(frame)
    lines = [one_line(frame), _job(frame)]
    if decides is not None:
        lines += [f"- {line}" for line in decides.evidence[:_SHOWN_EVIDENCE]]
        lines += [f"next: {step}" for step in decides.next_steps[:1]]
    return "\n".join(line for line in lines if line)


def job_pid(job: Job) -> int:
    """By which a person knows it: of its launcher, else what was attached to."""
    return job.launcher.pid if job.launcher else job.target_pid


def _decides(frame: Frame) -> Finding | None:
    return next((finding for finding in frame.findings if finding.severity != "info"), None)


def _job(frame: Frame) -> str:
    job = frame.derived.job
    if job is None:
        return frame.derived.host
    steps = [each.progress.newest.step for each in job.ranks if each.progress.newest and each.progress.newest.step]
    launcher = f"{job.launcher.kind} " if job.launcher else ""
    parts = [
        f"{frame.derived.host}, {launcher}PID {job_pid(job)}",
        counted(len(job.ranks), "rank"),
        *([f"step {max(steps)}"] if steps else []),
        f"watched for {span(frame.watched_s)}",
    ]
    return ", ".join(parts)
