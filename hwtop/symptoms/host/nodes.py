"""node-lost, clock-skew: nodes of one job that do not answer, or whose clocks differ. Quiet where only one machine is watched."""

from __future__ import annotations

from hwtop.model.fleet import Node
from hwtop.model.rank import Rank
from hwtop.seconds import span
from hwtop.symptoms.hang.stall import stall_cause
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.text import SHOWN

SKEW = limits_of("clock-skew")


def check_skew(history: History, limits: Limits = SKEW) -> Observation | None:
    """The clocks of two nodes differ, by more than the way of the messages can explain."""
    known = [
        (node.clock_skew_s, node.clock_error_s or 0.0, node) for node in history.nodes if node.clock_skew_s is not None
    ]
    if len(known) < 2:
        return None
    behind_s, behind_error_s, behind = min(known, key=lambda each: each[0])
    ahead_s, ahead_error_s, ahead = max(known, key=lambda each: each[0])
    error_s = behind_error_s + ahead_error_s
    if ahead_s - behind_s - error_s < limits.skew_s:
        return None
    return observed(
        "clock-skew",
        confidence=0.9,
        facts={"ahead": ahead.name, "behind": behind.name, "skew_s": ahead_s - behind_s},
        evidence=tuple(
            f"node {node.name}: {abs(skew_s):.3g} s {'ahead of' if skew_s > 0 else 'behind'} this machine, "
            f"to within {own_error_s:.2g} s"
            for skew_s, own_error_s, node in sorted(known, key=lambda each: -abs(each[0]))[:SHOWN]
        ),
    )


def check_lost(history: History) -> Observation | None:
    """Nodes that did report no longer do. It stops the job where the ranks of the others stand still."""
    lost = [node for node in history.nodes if node.status == "lost" and node.report is not None]
    if not lost:
        return None
    ranks = [rank.rank for node in lost for rank in _ranks(node)]
    stands_still = stall_cause(history) is not None
    first = max(lost, key=lambda node: node.age_s or 0.0)
    return observed(
        "node-lost",
        severity="critical" if stands_still else "info",
        confidence=0.8 if stands_still else 0.5,
        facts={
            "node": first.name,
            "more": len(lost) - 1 or None,
            "reason": first.reason,
            "job": "no rank of the other nodes goes on" if stands_still else None,
        },
        evidence=tuple(
            f"node {node.name}: last report {span(node.age_s or 0.0)} ago, {len(_ranks(node))} ranks; {node.reason}"
            for node in lost[:SHOWN]
        ),
        ranks=tuple(sorted(ranks)),
    )


def _ranks(node: Node) -> tuple[Rank, ...]:
    job = node.report.job if node.report is not None else None
    return job.ranks if job is not None else ()
