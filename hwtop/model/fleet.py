"""A job over several nodes: what each node's agent reports, and how each node does."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.check import CheckResult
from hwtop.model.gpu.device import Gpu
from hwtop.model.host.cpu import CpuRates
from hwtop.model.host.memory import MemoryRates
from hwtop.model.host.network import NetworkRates
from hwtop.model.job import Job
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import Blind, Finding, Verdict

NodeStatus = Literal["connecting", "reporting", "late", "lost", "ended", "failed"]
"""connecting: started, and has not reported yet. late: no report for some intervals. lost: none for so long that it no longer
counts among those that are compared, or its connection broke. ended: the agent said goodbye, because the job on it has ended
or its time was up. failed: it never reported; the reason says why."""


class NodeReport(Struct, frozen=True, gc=False, kw_only=True):
    """One moment of one node, as its own hwtop judges it: enough to compare nodes and to judge the job over all of them. Details
    are in the whole Snapshots, which only the node in focus sends.
    """

    host: str
    """As it calls itself."""
    number: int
    """1, 2, ...; a gap is reports that were not sent because the reader was slow."""
    time_s: float
    """Seconds after the epoch, by the clock of the node."""
    at_s: float
    """On the monotonic clock of the node."""
    interval_s: float
    watched_s: float
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    """Those of its ranks alone."""
    blind: tuple[Blind, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    """Without what only the page of a GPU shows: processes, links, counters."""
    job: Job | None = None
    """The ranks of this node and the groups of their stacks. Without lines, curves and processes; a stack in full (`RankStack.dump`)
    only of a rank that stands still and does not merely wait for others. None: no job was found, or none was read yet."""
    cpu: CpuRates | None = None
    """Without its cores."""
    memory: MemoryRates | None = None
    network: NetworkRates | None = None
    """InfiniBand and RoCE ports included, as "mlx5_0:1"."""
    own_cpu_pct: float | None = None
    """The agent itself: 100 = one core."""
    own_rss_bytes: int | None = None


class Node(Struct, frozen=True, gc=False, kw_only=True):
    """One node of the job."""

    name: str
    """As the launcher knows it."""
    status: NodeStatus
    reason: str | None = None
    """Why the status is neither "connecting" nor "reporting", in words a user can act on."""
    age_s: float | None = None
    """Since its newest report came; None before the first."""
    offset_s: float | None = None
    """What to add to a time on the monotonic clock of its report, to have it on this machine's; late by the delay of the fastest report.
    None before the first."""
    clock_skew_s: float | None = None
    """Its clock minus that of this machine: above 0 it is ahead."""
    clock_error_s: float | None = None
    """By how much `clock_skew_s` may be wrong: half of the shortest round trip."""
    clock_reason: str | None = None
    """Why the skew is not known."""
    version: str | None = None
    """Of its hwtop."""
    skipped: int = 0
    """Reports that it did not send because this reader was slow, or the link was."""
    report: NodeReport | None = None
    """The newest one; stays when the node is lost."""
    checks: tuple[CheckResult, ...] = ()
    """Those made so far, where `hwtop preflight` asked for them instead of reports."""


class FleetReading(Struct, frozen=True, gc=False, kw_only=True):
    """All nodes at one moment: what the job over all nodes is derived from. What a recording of a fleet holds."""

    time_s: float
    """Seconds after the epoch, by the clock of this machine."""
    at_s: float
    """On its monotonic clock."""
    interval_s: float
    nodes: tuple[Node, ...]
    """In the order of the launcher; never empty."""
    focus: str | None = None
    """Name of the node that sends whole Snapshots."""
    snapshots: tuple[Snapshot, ...] = ()
    """Of the node in focus, those that came since the last reading."""
