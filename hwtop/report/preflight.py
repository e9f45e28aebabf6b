"""Results of checks as JSON, text and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from hwtop import __version__
from hwtop.fleet.checks import Compared, unanswered
from hwtop.fleet.words import named_nodes
from hwtop.job.log.text import visible
from hwtop.model.check import GRAVITY, CheckResult
from hwtop.model.fleet import Node
from hwtop.model.output import Output
from hwtop.report.frame.markdown import inert

ODD = "≠"
"""Before the nodes that differ from the others."""
NOBODY: Mapping[str, Sequence[str]] = MappingProxyType({})


class NodeChecks(Output, frozen=True, kw_only=True):
    """The checks of one node."""

    name: str
    reason: str | None
    """Why they are not all there; null: they are."""
    version: str | None
    """Of its hwtop."""
    differs: tuple[str, ...]
    """Ids of the checks that it answers otherwise than most nodes do."""
    checks: tuple[CheckResult, ...]


class ChecksReport(Output, frozen=True, kw_only=True):
    """`hwtop preflight --json` and `hwtop doctor --json`."""

    hwtop: str
    """Version."""
    checks: tuple[CheckResult, ...]
    """In the order in which they were made. With --nodes: each over all nodes, its gravest answer."""
    nodes: tuple[NodeChecks, ...] | None = None
    """With --nodes: in the order of the launcher."""


def checks_report(found: Sequence[CheckResult]) -> ChecksReport:
    """What is printed as JSON."""
    return ChecksReport(hwtop=__version__, checks=tuple(found))


def nodes_report(nodes: Sequence[Node], found: Sequence[Compared]) -> ChecksReport:
    """What is printed as JSON for several nodes."""
    return ChecksReport(
        hwtop=__version__,
        checks=tuple(each.result for each in found),
        nodes=tuple(
            NodeChecks(
                name=node.name,
                reason=unanswered(node),
                version=node.version,
                differs=tuple(each.result.id for each in found if node.name in each.odd),
                checks=node.checks,
            )
            for node in nodes
        ),
    )


def checks_text(found: Sequence[CheckResult], odd: Mapping[str, Sequence[str]] = NOBODY) -> str:
    """What failed first, each with its remedy; what was skipped, by reason; then how many of each.

    Args:
        odd: id of a check -> the nodes that answer it otherwise than most.
    """
    width = max((len(result.id) for result in found), default=0)
    lines: list[str] = []
    skipped: dict[str, list[str]] = {}
    for result in _sorted(found):
        if result.status == "skip":
            skipped.setdefault(result.reason, []).append(result.id)
            continue
        lines.append(f"{result.status.upper()}  {result.id:{width}}  {visible(result.reason)}  ({result.took_s:.1f} s)")
        lines += [f"{'':{width + 8}}{ODD} {named_nodes(odd[result.id])}"] if odd.get(result.id) else []
        lines += [f"{'':{width + 8}}-> {visible(result.remedy)}"] if result.remedy else []
    lines += [f"SKIP  {visible(reason)}: {', '.join(ids)}" for reason, ids in skipped.items()]
    return "\n".join([*lines, "", _counts(found), ""])


def checks_markdown(found: Sequence[CheckResult], odd: Mapping[str, Sequence[str]] = NOBODY) -> str:
    """A table; `odd` as in `checks_text`."""
    lines = ["# hwtop preflight", "", _counts(found), ""]
    lines += ["| Status | Check | Reason | Remedy | Seconds |", "| --- | --- | --- | --- | --- |"]
    for result in _sorted(found):
        whose = f" ({ODD} {named_nodes(odd[result.id])})" if odd.get(result.id) else ""
        cells = (result.status.upper(), result.id, result.reason + whose, result.remedy or "", f"{result.took_s:.1f}")
        lines.append(f"| {' | '.join(visible(cell).replace('|', '&#124;') for cell in cells)} |")
    return inert("\n".join([*lines, ""]))


def _sorted(found: Sequence[CheckResult]) -> list[CheckResult]:
    return sorted(found, key=lambda result: GRAVITY.index(result.status))


def _counts(found: Sequence[CheckResult]) -> str:
    counts = {status: sum(result.status == status for result in found) for status in GRAVITY}
    return ", ".join(f"{count} {status.upper()}" for status, count in counts.items())
