"""The checks of `hwtop preflight` on all nodes: made by an agent on each, and laid side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hwtop.fleet.live import LiveFleet
from hwtop.fleet.words import named_nodes
from hwtop.model.check import GRAVITY, CheckResult
from hwtop.model.fleet import Node

_BUSY = frozenset({"connecting", "reporting"})
_SHOWN = 8
"""Nodes, or answers, in one text."""


class Compared(Struct, frozen=True, kw_only=True):
    """One check over all nodes."""

    result: CheckResult
    """Of the job as a whole: the gravest answer of a node, or a warning because nodes differ."""
    odd: tuple[str, ...] = ()
    """Names of the nodes that answer otherwise than most do; all of them where no answer prevails."""


def readings(fleet: LiveFleet) -> Iterator[tuple[Node, ...]]:
    """The nodes as they are, until the last one is through, has failed, or is silent for longer than a check may take."""
    try:
        for reading in fleet:
            yield reading.nodes
            if not any(node.status in _BUSY for node in reading.nodes):
                return
    finally:
        fleet.close()


def unanswered(node: Node) -> str | None:
    """Why the checks of a node are not all there; None: they are."""
    if node.status == "ended":
        return None if node.checks else node.reason or "it made no check"
    return node.reason or f"it is {node.status}"


def compared(nodes: Sequence[Node]) -> tuple[Compared, ...]:
    """The checks in the order in which they were made, first whether every node has answered."""
    found = {node.name: {result.id: result for result in node.checks} for node in nodes}
    ids = dict.fromkeys(result.id for node in nodes for result in node.checks)
    return (_reached(nodes), *(_compared(each, found) for each in ids))


def _reached(nodes: Sequence[Node]) -> Compared:
    lost = {node.name: reason for node in nodes if (reason := unanswered(node)) is not None}
    result = CheckResult(
        id="nodes",
        status="fail" if lost else "pass",
        reason="; ".join(f"{name}: {reason}" for name, reason in list(lost.items())[:_SHOWN])
        if lost
        else f"all {len(nodes)} nodes have answered",
        remedy="hwtop doctor, and hwtop preflight on these nodes" if lost else None,
        took_s=0.0,
    )
    return Compared(result=result, odd=tuple(lost))


def _compared(check: str, found: dict[str, dict[str, CheckResult]]) -> Compared:
    results = {name: answers[check] for name, answers in found.items() if check in answers}
    kinds: dict[str, tuple[str, str]] = {
        name: (each.status, each.reason if each.compares else "") for name, each in results.items()
    }
    odd = _odd(kinds)
    gravest = min(results.values(), key=lambda each: GRAVITY.index(each.status))
    took_s = max(each.took_s for each in results.values())
    reason, remedy, status = gravest.reason, gravest.remedy, gravest.status
    if odd and status in ("pass", "skip"):
        status = "warn"
        told = _grouped((each.reason, name) for name, each in results.items())
        reason = "nodes differ: " + "; ".join(f"{text} on {named_nodes(names)}" for text, names in told[:_SHOWN])
        remedy = "Set the nodes up alike, or leave out those that differ"
    elif odd:
        reason = f"{reason} (on {named_nodes([name for name, each in results.items() if each.status == status])})"
    result = CheckResult(id=check, status=status, reason=reason, remedy=remedy, took_s=took_s)
    return Compared(result=result, odd=odd)


def _odd(kinds: dict[str, tuple[str, str]]) -> tuple[str, ...]:
    """Who answers otherwise than most."""
    counts = Counter(kinds.values()).most_common(2)
    if len(counts) < 2:
        return ()
    (usual, most), (_, second) = counts
    return tuple(name for name, kind in kinds.items() if most == second or kind != usual)


def _grouped(answers: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """(answer, name) -> each answer with its names, the most frequent first."""
    names: dict[str, list[str]] = {}
    for answer, name in answers:
        names.setdefault(answer, []).append(name)
    return sorted(names.items(), key=lambda each: -len(each[1]))
