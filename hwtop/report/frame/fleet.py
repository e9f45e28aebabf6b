"""The diagnosis of a job over several nodes: that of one machine, with its nodes."""

from __future__ import annotations

from msgspec import Struct, structs

from hwtop.job.log.text import visible
from hwtop.job.rank_set import named
from hwtop.model.fleet import Node, NodeStatus
from hwtop.model.frame import Frame
from hwtop.model.symptom import VerdictLevel
from hwtop.report.frame import json_report, markdown
from hwtop.report.frame.json_report import QUOTED, Diagnosis
from hwtop.symptoms.text import counted

_SHOWN = 64
"""Nodes that the text lists, those that do not report first."""


class NodeObject(Struct, frozen=True, kw_only=True):
    """One node of the job."""

    name: str
    status: NodeStatus
    reason: str | None
    """Why it does not report; null where it does."""
    host: str | None
    """As it calls itself."""
    version: str | None
    """Of its hwtop."""
    age_s: float | None
    """Since its newest report."""
    clock_skew_s: float | None
    """Its clock less that of the machine that asks."""
    clock_error_s: float | None
    clock_reason: str | None
    """Why the skew is not known."""
    skipped: int
    """Reports that it did not send because the way here was slow."""
    ranks: tuple[int, ...]
    gpus: int
    verdict: VerdictLevel | None
    """As it judges its own ranks."""
    symptoms: tuple[str, ...]
    """Those of its own findings."""


class FleetDiagnosis(Diagnosis, frozen=True, kw_only=True):
    """`hwtop fleet --json`: a diagnosis of the job over all nodes. Ranks carry the name of their node; PIDs are those of their node."""

    nodes: tuple[NodeObject, ...]
    untrusted: tuple[str, ...] = (*QUOTED, "nodes")


def diagnosis(frame: Frame) -> FleetDiagnosis:
    """The object that `hwtop fleet --diagnose --json` prints."""
    known = structs.asdict(json_report.diagnosis(frame))
    del known["untrusted"], known["end"]
    return FleetDiagnosis(**known, nodes=tuple(map(node_object, frame.nodes)))


def node_object(node: Node) -> NodeObject:
    """The node as JSON has it."""
    report = node.report
    return NodeObject(
        name=node.name,
        status=node.status,
        reason=node.reason,
        host=report.host if report is not None else None,
        version=node.version,
        age_s=node.age_s,
        clock_skew_s=node.clock_skew_s,
        clock_error_s=node.clock_error_s,
        clock_reason=node.clock_reason,
        skipped=node.skipped,
        ranks=_ranks(node),
        gpus=len(report.gpus) if report is not None else 0,
        verdict=report.verdict.level if report is not None else None,
        symptoms=tuple(finding.symptom for finding in report.findings) if report is not None else (),
    )


def text(frame: Frame, *, as_markdown: bool, most_bytes: int | None = None) -> str:
    """The diagnosis of the job, and a line for each node."""
    whole = markdown.diagnosis(frame, markdown=as_markdown, most_bytes=most_bytes)
    return whole if most_bytes is not None else f"{whole}\n\n{_nodes(frame, as_markdown=as_markdown)}"


def _nodes(frame: Frame, *, as_markdown: bool) -> str:
    first = sorted(frame.nodes, key=lambda node: node.status == "reporting")
    left = len(first) - _SHOWN
    lines = [
        "## Nodes" if as_markdown else "Nodes:",
        *(f"- {_line(node)}" for node in first[:_SHOWN]),
        *([f"- and {left} more"] if left > 0 else []),
    ]
    return markdown.inert("\n".join(lines)) if as_markdown else "\n".join(lines)


def _line(node: Node) -> str:
    ranks, report = _ranks(node), node.report
    parts = [f"{node.name}: {node.status}"]
    parts += [node.reason] if node.reason is not None else []
    parts += [named(ranks)] if ranks else []
    parts += [counted(len(report.gpus), "GPU")] if report is not None and report.gpus else []
    if report is not None and node.status == "reporting":
        parts.append(report.verdict.text)
    if node.clock_skew_s is not None and abs(node.clock_skew_s) > 2 * (node.clock_error_s or 0.0) + 0.1:
        parts.append(f"its clock is {abs(node.clock_skew_s):.2g} s {'ahead' if node.clock_skew_s > 0 else 'behind'}")
    return visible(", ".join(parts))


def _ranks(node: Node) -> tuple[int, ...]:
    job = node.report.job if node.report is not None else None
    return tuple(rank.rank for rank in job.ranks) if job is not None else ()
