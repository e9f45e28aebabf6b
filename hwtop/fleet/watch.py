"""Watch a fleet without a screen."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.errors import CannotError
from hwtop.feed.watch import LAST_WORDS_S
from hwtop.fleet.assemble import FleetAssembler
from hwtop.fleet.feed import Store
from hwtop.fleet.live import LiveFleet
from hwtop.fleet.node_watch import CONNECT_S
from hwtop.job.log.text import visible
from hwtop.model.fleet import Node
from hwtop.model.frame import Frame

_MOST_STACKS_S = 60.0
"""That an agent takes stacks at the pace of a short run for one request."""
_SHOWN = 4


def watch(
    fleet: LiveFleet,
    *,
    seconds: float,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    store: Store | None = None,
    is_short: bool = True,
) -> Generator[Frame, None, None]:
    """Frames of the next `seconds`, counted from when the last node has connected or failed. Ends early once the job has ended, or all
    agents have.

    Args:
        store: keeps what was read.
        is_short: stacks are taken at the pace of a short run.

    Raises:
        CannotError: no node could be reached.
    """
    assembler, connected_s, asked_s = FleetAssembler(symptoms), None, float("-inf")
    try:
        for reading in fleet:
            if store is not None:
                store(reading)
            frame = assembler.advance(reading)
            if connected_s is None and (not _are_connecting(reading.nodes) or frame.watched_s > CONNECT_S):
                connected_s = reading.at_s
            if all(node.status == "failed" for node in reading.nodes):
                raise CannotError(_why_none(reading.nodes))
            if is_short and reading.at_s - asked_s >= _MOST_STACKS_S / 2:
                asked_s = reading.at_s
                fleet.stacks_now(_MOST_STACKS_S)
            yield frame
            job = frame.derived.job
            has_ended = job is not None and job.has_ended and (job.ended_for_s or 0.0) >= LAST_WORDS_S
            has_ended = has_ended or all(node.status in ("ended", "failed") for node in reading.nodes)
            if connected_s is not None and (reading.at_s - connected_s >= seconds or has_ended):
                return
    finally:
        fleet.close()


def without_job(nodes: Sequence[Node]) -> str:
    """Why no job is watched, and what chooses one."""
    found = {
        node.name: node.reason or (node.report.verdict.text if node.report is not None else "no answer")
        for node in nodes
    }
    shown = "; ".join(f"{name}: {text}" for name, text in list(found.items())[:_SHOWN])
    return visible(f"no job is watched on any of {len(nodes)} nodes: --name PATTERN or --pid PID chooses it ({shown})")


def _are_connecting(nodes: Sequence[Node]) -> bool:
    return any(node.report is None and node.status == "connecting" for node in nodes)


def _why_none(nodes: Sequence[Node]) -> str:
    """One reason for all, or one for each of the first."""
    reasons = {node.name: node.reason or "no answer" for node in nodes}
    if len(set(reasons.values())) == 1 and len(nodes) > 1:
        return visible(f"none of {len(nodes)} nodes can be watched: {next(iter(reasons.values()))}")
    shown = [f"{name}: {reason}" for name, reason in list(reasons.items())[:_SHOWN]]
    more = f"; and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    return visible("; ".join(shown) + more)
