"""A node, and what makes it differ from the rest of the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from hwtop.fields.rank import WORST_FIRST
from hwtop.job.rank_set import named
from hwtop.model.fleet import Node, NodeStatus
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu, GpuStatus
from hwtop.model.rank import Rank, RankState
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Finding
from hwtop.symptoms.severity import gravity

STATUSES: tuple[NodeStatus, ...] = ("reporting", "connecting", "ended", "late", "lost", "failed")
"""The better first."""
_SILENT = frozenset[NodeStatus](("lost", "failed", "ended"))
_SICK: tuple[RankState, ...] = ("slow", "stalled", "stuck", "stopped", "dead")
"""States of a rank that others wait for, the sickest last."""
_GONE = frozenset[GpuStatus](("lost", "error"))
_FEW = 1 / 2
"""A finding that more than this share of the nodes (or ranks) has makes none of them differ."""
BEHIND = 2
"""Steps behind the median of all ranks from which on a rank is marked; one is the jitter of a log."""


@dataclass(frozen=True)
class NodeRow:
    """One node with what its fields need to know of the rest of the job."""

    node: Node
    step_of_most: float | None = None
    """Median of the newest steps of all ranks."""
    blame: Finding | None = None
    """The weightiest finding of the whole job that names a rank of this node, and few others."""
    own: Finding | None = None
    """The weightiest finding that the node itself has, and few others."""

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Its devices, as of its newest report."""
        return self.node.report.gpus if self.node.report else ()

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """Those of the job on this node."""
        return self.node.report.job.ranks if self.node.report and self.node.report.job else ()

    @property
    def is_current(self) -> bool:
        """Its newest report still counts."""
        return self.node.report is not None and self.node.status not in _SILENT

    @cached_property
    def worst_rank(self) -> Rank | None:
        """The rank in the sickest state."""
        return min(self.ranks, key=lambda rank: WORST_FIRST.index(rank.state), default=None)

    @cached_property
    def lag(self) -> int | None:
        """Steps by which its slowest rank is behind the median of all; None where it reports no step."""
        steps = [found for rank in self.ranks if (found := rank.progress.step) is not None]
        return None if not steps or self.step_of_most is None else max(0, round(self.step_of_most - min(steps)))

    @property
    def severity(self) -> Severity | None:
        """Of what makes it differ; None where it is as most are."""
        found = self.blame or self.own
        return found.severity if found else None


def reporting(nodes: Sequence[Node]) -> str:
    """ "61 of 64 nodes": those whose reports come."""
    coming = sum(node.status in ("reporting", "late") for node in nodes)
    return f"{coming} of {len(nodes)} node{'s' * (len(nodes) != 1)}"


def rows(frame: Frame) -> Iterator[NodeRow]:
    """The nodes in the order of the launcher."""
    steps = [
        found
        for node in frame.nodes
        if node.report and node.report.job and node.status not in _SILENT
        for rank in node.report.job.ranks
        if (found := rank.progress.step) is not None
    ]
    middle = median(steps) if steps else None
    of_rank = _blamed(frame)
    usual = _usual(frame.nodes)
    for node in frame.nodes:
        report = node.report
        ranks = report.job.ranks if report and report.job else ()
        blame = max((of_rank[rank.rank] for rank in ranks if rank.rank in of_rank), key=_gravity, default=None)
        own = [each for each in report.findings if each.symptom not in usual] if report else []
        yield NodeRow(node, middle, blame, max(own, key=_gravity, default=None))


def _blamed(frame: Frame) -> dict[int, Finding]:
    """Rank -> the weightiest finding of the job that is about it and not about most."""
    total = sum(len(node.report.job.ranks) for node in frame.nodes if node.report and node.report.job)
    few = [each for each in frame.findings if each.severity != "info" and 0 < len(each.ranks) <= total * _FEW]
    return {rank: finding for finding in reversed(few) for rank in finding.ranks}


def _usual(nodes: Sequence[Node]) -> frozenset[str]:
    """Symptoms that most nodes have: the job over all of them has a verdict for these."""
    counts = Counter(
        symptom for node in nodes if node.report for symptom in {each.symptom for each in node.report.findings}
    )
    return frozenset(symptom for symptom, count in counts.items() if count > 1 and count > len(nodes) * _FEW)


def _gravity(finding: Finding) -> int:
    return gravity(finding.severity)


def badness(row: NodeRow) -> int:
    """What is wrong with it, so that the worst node stands first; equal ones keep their order. Of states alone: a number that
    flickers must not move a row."""
    status, state = STATUSES.index(row.node.status), row.worst_rank.state if row.worst_rank else "training"
    found = (_gravity(row.blame) if row.blame else 0, gravity(row.severity))
    sick = _SICK.index(state) + 1 if state in _SICK else 0
    lag = row.lag or 0
    if any(gpu.status in _GONE for gpu in row.gpus):
        sick = len(_SICK) + 1
    return ((found[0] * 10 + max(0, status - 2)) * 10 + found[1]) * 100 + sick * 10 + (lag >= BEHIND)


def problem(row: NodeRow) -> str | None:
    """In a few words, what makes it differ from most; None where nothing does."""
    if row.node.status not in ("reporting", "connecting") and row.node.reason:
        return row.node.reason
    if found := row.blame or row.own:
        return found.title
    if gone := [gpu for gpu in row.gpus if gpu.status in _GONE]:
        return f"GPU {gone[0].index} is {gone[0].status}: {gone[0].reason or 'no reason given'}"
    lag = row.lag
    if lag is not None and lag >= BEHIND:
        slowest = min(
            (rank for rank in row.ranks if rank.progress.step is not None), key=lambda rank: rank.progress.step or 0
        )
        return f"{named((slowest.rank,))} is {lag:,} steps behind"
    if row.node.report is None:
        return row.node.reason or "no report yet"
    if not row.ranks:
        return "no rank found on this node"
    return None
