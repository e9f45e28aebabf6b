"""Results of checks as JSON, text and Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop import __version__
from hwtop.job.log.text import visible
from hwtop.model.output import Output
from hwtop.preflight.check import CheckResult, Status
from hwtop.report.markdown import inert

_ORDER: tuple[Status, ...] = ("fail", "warn", "pass", "skip")


class ChecksReport(Output, frozen=True, kw_only=True):
    """`hwtop preflight --json` and `hwtop doctor --json`."""

    hwtop: str
    """Version."""
    checks: tuple[CheckResult, ...]
    """In the order in which they were made."""


def checks_report(found: Sequence[CheckResult]) -> ChecksReport:
    """What is printed as JSON."""
    return ChecksReport(hwtop=__version__, checks=tuple(found))


def checks_text(found: Sequence[CheckResult]) -> str:
    """What failed first, each with its remedy; what was skipped, by reason; then how many of each."""
    width = max((len(result.id) for result in found), default=0)
    lines: list[str] = []
    skipped: dict[str, list[str]] = {}
    for result in _sorted(found):
        if result.status == "skip":
            skipped.setdefault(result.reason, []).append(result.id)
            continue
        lines.append(f"{result.status.upper()}  {result.id:{width}}  {visible(result.reason)}  ({result.took_s:.1f} s)")
        lines += [f"{'':{width + 8}}-> {visible(result.remedy)}"] if result.remedy else []
    lines += [f"SKIP  {visible(reason)}: {', '.join(ids)}" for reason, ids in skipped.items()]
    return "\n".join([*lines, "", _counts(found), ""])


def checks_markdown(found: Sequence[CheckResult]) -> str:
    """A table."""
    lines = ["# hwtop preflight", "", _counts(found), ""]
    lines += ["| Status | Check | Reason | Remedy | Seconds |", "| --- | --- | --- | --- | --- |"]
    for result in _sorted(found):
        cells = (result.status.upper(), result.id, result.reason, result.remedy or "", f"{result.took_s:.1f}")
        lines.append(f"| {' | '.join(visible(cell).replace('|', '&#124;') for cell in cells)} |")
    return inert("\n".join([*lines, ""]))


def _sorted(found: Sequence[CheckResult]) -> list[CheckResult]:
    return sorted(found, key=lambda result: _ORDER.index(result.status))


def _counts(found: Sequence[CheckResult]) -> str:
    counts = {status: sum(result.status == status for result in found) for status in _ORDER}
    return ", ".join(f"{count} {status.upper()}" for status, count in counts.items())
