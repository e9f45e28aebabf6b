"""Cascades: which symptom follows from which, so that one cause gives one card. The records say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec.structs import replace

from hwtop.model.symptom import Finding
from hwtop.symptoms.records import Group, members, records


@cache
def causes() -> Mapping[str, tuple[str, ...]]:
    """Symptom -> the symptoms that explain it, where they are seen at the same time."""
    found = {
        symptom: [cause for name in record.explained_by for cause in members(name) if cause != symptom]
        for symptom, record in records().items()
    }
    for cause, record in records().items():
        for name in record.explains:
            for symptom in members(name):
                found[symptom].append(cause)
    return {symptom: tuple(dict.fromkeys(each)) for symptom, each in found.items()}


def fold(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Each cascade disappears into the `folded` list of its root; order is kept."""
    by_symptom = {finding.symptom: finding for finding in findings}
    folded: dict[str, list[Finding]] = {}
    for finding in findings:
        root = _root(finding.symptom, by_symptom)
        if root != finding.symptom:
            folded.setdefault(root, []).append(finding)
    return tuple(
        _with(finding, folded.get(finding.symptom, ()))
        for finding in findings
        if _root(finding.symptom, by_symptom) == finding.symptom
    )


def _with(root: Finding, cascades: Sequence[Finding]) -> Finding:
    """The end of a rank that is not known (several write into one log) is that of the rank that the others miss."""
    missed = next((each.ranks for each in cascades if _is(each, "names-rank") and each.ranks), ())
    return replace(
        root,
        ranks=root.ranks or (missed if _is(root, "ends-rank") else ()),
        folded=tuple(f"{finding.symptom}: {finding.title}" for finding in cascades),
    )


def _root(symptom: str, present: dict[str, Finding]) -> str:
    seen = {symptom}
    while True:
        cause = next(
            (
                root
                for root in causes().get(symptom, ())
                if root not in seen and _explains(present.get(root), present[symptom])
            ),
            None,
        )
        if cause is None:
            return symptom
        seen.add(cause)
        symptom = cause


def _explains(root: Finding | None, finding: Finding) -> bool:
    """What is only worth a note cannot be why something is seriously wrong; one rank's GPU is not why another rank is slow, and a GPU
    that no rank uses explains nothing."""
    if root is None or (root.severity == "info" != finding.severity):
        return False
    pair = {root.symptom: root, finding.symptom: finding}
    if pair.keys() == {"nccl-timeout", "rank-dead"}:
        return _ended_itself(pair["nccl-timeout"], pair["rank-dead"]) == (root.symptom == "nccl-timeout")
    if _is(root, "input-bound") and _is(finding, "one-rank") and not set(root.ranks) > set(finding.ranks):
        return False  # the slow data of one rank makes that rank slow: the job waits for it
    if _is(root, "one-rank") and _is(finding, "input-bound") and not set(root.ranks) >= set(finding.ranks):
        return False
    is_of_steps = "slows-gpu" in records()[finding.symptom].explained_by
    if is_of_steps and _is(root, "slows-gpu") and not root.ranks:  # no rank is known to use it
        return False
    is_apart = bool(root.ranks and finding.ranks) and set(root.ranks).isdisjoint(finding.ranks)
    if root.symptom == "checkpoint-error" and root.severity != "critical":  # a save that failed was caught
        return False
    is_of_one = _is(finding, "one-rank") and _is(root, "one-gpu")
    return not (is_apart and (is_of_one or root.symptom == "checkpoint-error"))


def _ended_itself(timed_out: Finding, dead: Finding) -> bool:
    """The timeout ended the rank that it was reported by; that of another rank follows from the end of one."""
    is_own = bool(timed_out.ranks) and set(timed_out.ranks) <= set(dead.ranks)
    return is_own and timed_out.first_seen_s <= dead.first_seen_s


def _is(finding: Finding, group: Group) -> bool:
    return finding.symptom in members(group)
