"""What a finding about the ranks of all nodes says in addition: on which nodes they are, and what failed first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from hwtop.fleet.merge import heard
from hwtop.fleet.rules import OF_ALL, first_seen_s, on_node
from hwtop.fleet.words import named_nodes
from hwtop.job.hang.rank_state import WAITS_LEAST
from hwtop.job.rank_set import named
from hwtop.model.fleet import Node
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.symptom import Finding
from hwtop.seconds import span
from hwtop.symptoms.text import SHOWN

_MOST_NAMED = 4
"""Nodes with ranks of a finding; of more the title would be a list."""
_AHEAD_S = 2.0
"""What was seen later by less may have come first: nodes look once a second. Engineering default."""
_BEGUN_S = 15.0
"""What a node has seen earlier in its watch may have been there before it, nobody knows how long. Engineering default."""


_OF_RANKS = (OF_ALL | {"rank-dead", "rank-stopped", "multi-gpu-imbalance"}) - {"node-lost", "clock-skew"}


def placed(finding: Finding, job: Job | None) -> Finding:
    """With the nodes of its ranks: in its title, before what is to be done there, and one line a rank."""
    known = {rank.rank: rank for rank in job.ranks} if job is not None else {}
    ranks = [known[number] for number in finding.ranks if number in known]
    nodes = list(dict.fromkeys(rank.node for rank in ranks if rank.node is not None))
    if not nodes or finding.symptom not in _OF_RANKS or _is_of_nodes(finding, nodes):
        return finding
    evidence = _straggling(finding, job) if job is not None else ()
    if len(nodes) > _MOST_NAMED:
        return replace(finding, evidence=(*evidence, *finding.evidence))
    where = tuple(_where(rank) for rank in ranks[:SHOWN])
    there = nodes[0]
    return replace(
        finding,
        title=f"{finding.title} (on {named_nodes(nodes)})",
        evidence=(*where, *evidence, *finding.evidence),
        next_steps=tuple(on_node(there, step) for step in finding.next_steps),
        test=None if finding.test is None else on_node(there, finding.test),
        escalate=tuple(on_node(there, step) for step in finding.escalate),
    )


def _is_of_nodes(finding: Finding, nodes: Sequence[str]) -> bool:
    """It is what nodes have said themselves, and names them."""
    return any(step.startswith(f"on {node}: ") for step in finding.next_steps for node in nodes)


def _where(rank: Rank) -> str:
    return f"rank {rank.rank} is on node {rank.node}, PID {rank.pid} there"


def _straggling(finding: Finding, job: Job) -> tuple[str, ...]:
    """Whether it is the whole node that is slow."""
    if finding.symptom != "straggler-rank":
        return ()
    shares: dict[str, list[float]] = {}
    for rank in job.ranks:
        if rank.node is not None and rank.is_alive and rank.stack.wait_share is not None:
            shares.setdefault(rank.node, []).append(rank.stack.wait_share)
    slow = next((rank.node for rank in job.ranks if rank.rank in finding.ranks), None)
    others = [share for node, each in shares.items() if node != slow for share in each]
    own = shares.get(slow or "", [])
    if len(own) < 2 or not others:
        return ()
    usual = median(others)
    if max(own) > WAITS_LEAST * usual:
        return (f"the other ranks of node {slow} wait as those of the other nodes do: it is this rank, not the node",)
    return (
        f"all {len(own)} ranks of node {slow} wait for at most {max(own):.0%} of the time, those of the other nodes for {usual:.0%}",
    )


def first_failure(nodes: Sequence[Node], findings: Sequence[Finding], job: Job | None, at_s: float) -> str | None:
    """The node on which something serious was seen first, and how long before the next one; None where nothing is, or nobody was
    clearly first."""
    signs = sorted(_signs(nodes, job, at_s).items(), key=lambda each: each[1][0])
    if len(signs) < 2 or not findings:
        return None
    (name, (first_s, what)), (other, (second_s, _)) = signs[0], signs[1]
    if second_s - first_s < _AHEAD_S:
        return None
    return f"first in time: node {name}, {span(second_s - first_s)} before node {other}: {what}"


def _signs(nodes: Sequence[Node], job: Job | None, at_s: float) -> Mapping[str, tuple[float, str]]:
    """Node -> when something serious was first seen on it, and what."""
    found: dict[str, tuple[float, str]] = {}

    def see(name: str, seen_s: float, what: str) -> None:
        if name not in found or seen_s < found[name][0]:
            found[name] = seen_s, what

    for node in nodes:
        if node.status == "lost" and node.age_s is not None:
            see(node.name, at_s - node.age_s, "its last report")
    for node in heard(nodes):
        for finding in node.report.findings if node.report is not None else ():
            if finding.severity != "info" and finding.symptom not in OF_ALL and finding.first_seen_s >= _BEGUN_S:
                see(node.name, first_seen_s(node, finding), finding.title)
    for rank in job.ranks if job is not None else ():
        if rank.node is not None and rank.gone_at_s is not None:
            see(rank.node, rank.gone_at_s, f"{named([rank.rank])} was gone")
    return found
