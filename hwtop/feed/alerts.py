"""Alerts: which findings are new. Pure."""

from __future__ import annotations

from hwtop.model.frame import Frame
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import AT_LEAST, Finding


class AlertBook:
    """Each symptom of a job alerts once until it has cleared."""

    def __init__(self, severity: Severity) -> None:
        self._severities = AT_LEAST[severity]
        self._job: int | None = None
        self._reported: set[str] = set()

    def listen(self, severity: Severity) -> None:
        """Alert about findings of this severity or above."""
        self._severities = AT_LEAST[severity]

    def advance(self, frame: Frame) -> tuple[Finding, ...]:
        """The findings to alert about now."""
        job = frame.derived.job
        if job is None or job.target_pid != self._job:
            self._job, self._reported = job.target_pid if job else None, set()
        grave = [finding for finding in frame.findings if finding.severity in self._severities]
        new = tuple(finding for finding in grave if finding.symptom not in self._reported)
        self._reported = {finding.symptom for finding in grave}
        return new
