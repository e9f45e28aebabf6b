"""Alerts: which findings are new enough to call for. Pure."""

from __future__ import annotations

from hwtop.model.frame import Frame
from hwtop.model.log import Severity
from hwtop.model.symptom import AT_LEAST, Finding


class AlertBook:
    """Each symptom calls once for a job until it has cleared."""

    def __init__(self, severity: Severity) -> None:
        self._severities = AT_LEAST[severity]
        self._job: int | None = None
        self._told: set[str] = set()

    def listen(self, severity: Severity) -> None:
        """Tell of findings from this severity on."""
        self._severities = AT_LEAST[severity]

    def advance(self, frame: Frame) -> tuple[Finding, ...]:
        """The findings that are to be told now."""
        job = frame.moment.job
        if job is None or job.target_pid != self._job:
            self._job, self._told = job.target_pid if job else None, set()
        grave = [finding for finding in frame.findings if finding.severity in self._severities]
        new = tuple(finding for finding in grave if finding.symptom not in self._told)
        self._told = {finding.symptom for finding in grave}
        return new
