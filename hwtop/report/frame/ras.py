"""What NCCL's RAS port has reported, in a few lines of text."""

from __future__ import annotations

from collections import Counter

from hwtop.job.log.text import visible
from hwtop.job.ras.verdict import counts_text, differing
from hwtop.model.job import JobRas
from hwtop.model.reported.ras import RasCommunicator, RasReport

_SHOWN = 8
"""Communicators and processes of which there is a line each."""


def lines(ras: JobRas) -> list[str]:
    """Age and size, the communicators in which something differs, and who does not answer; empty without a report."""
    report = ras.report
    if report is None:
        return []
    odd = [_communicator(each) for each in report.communicators if _is_odd(each)]
    lost = [("dead", each) for each in report.dead] + [("no answer", each) for each in report.missing]
    processes = [f"PID {process.pid} on node {process.host}: {state}" for state, process in lost]
    found = [f"- {visible(line)}" for line in (*odd[:_SHOWN], *processes[:_SHOWN])]
    hidden = max(0, len(odd) - _SHOWN) + max(0, len(processes) - _SHOWN)
    if hidden:
        found.append(f"- and {hidden} more (`--json` has all)")
    return [
        _head(ras, report),
        *(found or ["- all ranks have launched the same collectives (send and recv are not counted)"]),
    ]


def _head(ras: JobRas, report: RasReport) -> str:
    version = f" (NCCL {report.nccl_version})" if report.nccl_version else ""
    nodes = {rank.process.host for each in report.communicators for rank in each.ranks if rank.process}
    largest = max((each.size or 0 for each in report.communicators), default=0)
    size = f", the largest of {largest} ranks" if largest else ""
    place = f" on {len(nodes)} nodes" if len(nodes) > 1 else ""
    count = report.communicator_count
    age = "" if ras.age_s is None else f", {ras.age_s:.0f} s ago"
    return visible(f"NCCL RAS{version}{age}: {count} communicator{'' if count == 1 else 's'}{size}{place}")


def _is_odd(communicator: RasCommunicator) -> bool:
    return bool(differing(communicator)) or any(rank.state != "running" for rank in communicator.ranks)


def _communicator(communicator: RasCommunicator) -> str:
    states = Counter(rank.state for rank in communicator.ranks if rank.state != "running")
    parts = [f"{count} {state}" for state, count in states.items()]
    counts = differing(communicator)
    return f"communicator {communicator.name}: {', '.join((*parts, *([counts_text(counts)] if counts else [])))}"
