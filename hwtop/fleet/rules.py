"""What the job over all nodes is judged by: the rules of one machine. Pure.

Those that compare ranks are asked again, of the ranks of all nodes; of all others each node's own answer counts, and the nodes that
give the same one are told together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from hwtop.fleet.merge import heard
from hwtop.fleet.peers import check_gpus
from hwtop.fleet.words import named_nodes
from hwtop.model.fleet import Node
from hwtop.model.symptom import Finding
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.severity import SEVERITIES
from hwtop.symptoms.text import SHOWN

OF_ALL = frozenset(
    {
        "clock-skew",
        "collective-mismatch",
        "hang",
        "node-lost",
        "rank-missing-from-collective",
        "straggler-rank",
    }
)
"""Only the ranks of all nodes together can tell: a node alone would take those of the others for missing."""
_OF_ALL_FIRST = frozenset({"rank-dead", "rank-stopped"})
"""The ranks of all nodes tell more; what a node alone has seen counts as well."""
_PEERS = "multi-gpu-imbalance"
PEERS_S = 30.0
"""For so long a GPU must be unlike those of other nodes. Engineering default."""
_SHOWN_EVIDENCE = 3
"""Lines of each node, where several have the same symptom."""


def fleet_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """These rules, asked of a job over several nodes."""
    return tuple(map(_of_fleet, rules))


def of_nodes_rule(finding: Finding) -> Rule:
    """For a symptom that this hwtop does not know: the agent is newer, or its user has patterns of their own."""
    return Rule(
        symptom=finding.symptom,
        category=finding.category,
        threshold="as the hwtop of the node says",
        raise_s=0.0,
        clear_s=0.0,
        check=partial(of_nodes, finding.symptom),
    )


def _of_fleet(rule: Rule) -> Rule:
    if rule.symptom in OF_ALL:
        return replace(rule, check=partial(_when_complete, rule.check))
    own = partial(of_nodes, rule.symptom)
    if rule.symptom in _OF_ALL_FIRST:
        return replace(rule, check=partial(_either, rule.check, own))
    if rule.symptom == _PEERS:
        return replace(rule, check=partial(_either, check_gpus, own), limits=None, raise_s=PEERS_S)
    return replace(rule, check=own, limits=None, raise_s=0.0, clear_s=0.0)


def _when_complete(check: Callable[..., Observation | None], history: History, *limits: object) -> Observation | None:
    """Not while a node is still to come: its ranks would be missed."""
    is_complete = not any(node.status == "connecting" and node.report is None for node in history.nodes)
    return check(history, *limits) if is_complete else None


def _either(
    of_all: Callable[..., Observation | None],
    own: Callable[[History], Observation | None],
    history: History,
    *limits: object,
) -> Observation | None:
    return of_all(history, *limits) or own(history)


def of_nodes(symptom: str, history: History) -> Observation | None:
    """What the nodes say of it themselves, the one that saw it first before the others."""
    found = [
        (node, finding)
        for node in heard(history.nodes)
        if node.report is not None
        for finding in node.report.findings
        if finding.symptom == symptom
    ]
    if not found:
        return None
    found.sort(key=lambda each: (SEVERITIES.index(each[1].severity), first_seen_s(*each)))
    (first, finding), names = found[0], [node.name for node, _ in found]
    shown = finding.evidence if len(found) == 1 else _evidence(found)
    return Observation(
        severity=finding.severity,
        confidence=finding.confidence,
        title=f"{named_nodes(names)}: {finding.title}",
        evidence=shown,
        next_steps=tuple(on_node(first.name, step) for step in finding.next_steps),
        ranks=tuple(sorted({rank for _, each in found for rank in each.ranks})),
        log_line=finding.log_line,
    )


def _evidence(found: Sequence[tuple[Node, Finding]]) -> tuple[str, ...]:
    return tuple(
        f"node {node.name}: {line}"
        for node, finding in found[:SHOWN]
        for line in (finding.title, *finding.evidence[:_SHOWN_EVIDENCE])
    )


def first_seen_s(node: Node, finding: Finding) -> float:
    """When the node first saw it, on the monotonic clock of this machine."""
    report = node.report
    return 0.0 if report is None else report.at_s - report.watched_s + finding.first_seen_s + (node.offset_s or 0.0)


def on_node(node: str, step: str) -> str:
    """A step that is to be taken there."""
    return f"on {node}: {step}"
