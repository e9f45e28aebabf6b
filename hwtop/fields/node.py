"""Fields of a node, in a job over several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from statistics import fmean, median
from typing import get_args

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Sort, Subject
from hwtop.fields.level import Level
from hwtop.fields.node_row import BEHIND, STATUSES, NodeRow, badness, problem, rows
from hwtop.fields.rank import WORST_FIRST
from hwtop.fields.ratio import percent
from hwtop.model.fleet import NodeStatus
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import RankState
from hwtop.model.reported.log import Severity

CYCLE = ("problem", "node", "lag", "util", "power", "temp", "wait", "age")
"""Orders of the table that one key goes through; a click on a title has all."""


def _of_gpus(
    value: Callable[[Gpu], float | None], of: Callable[[Iterable[float]], float]
) -> Callable[[NodeRow], float | None]:
    def found(row: NodeRow) -> float | None:
        known = [number for gpu in row.gpus if (number := value(gpu)) is not None] if row.is_current else []
        return of(known) if known else None

    return found


def _alive(row: NodeRow) -> int | None:
    return sum(rank.is_alive for rank in row.ranks) if row.node.report else None


def _wait_pct(row: NodeRow) -> float | None:
    shares = [share for rank in row.ranks if (share := rank.stack.all_waits_share) is not None]
    return 100 * fmean(shares) if shares and row.is_current else None


def _step_time(row: NodeRow) -> float | None:
    times = [rank.progress.step_time_s for rank in row.ranks if rank.progress.step_time_s is not None]
    return median(times) if times and row.is_current else None


def _step(row: NodeRow) -> float | None:
    return min((found for rank in row.ranks if (found := rank.progress.step) is not None), default=None)


def _phase(row: NodeRow) -> str | None:
    phases = Counter(rank.stack.phase for rank in row.ranks if rank.stack.phase is not None)
    return phases.most_common(1)[0][0] if phases and row.is_current else None


def _memory_pct(row: NodeRow) -> float | None:
    memory = row.node.report.memory if row.node.report and row.is_current else None
    return percent(memory.used_bytes, memory.total_bytes) if memory else None


def _cpu_pct(row: NodeRow) -> float | None:
    cpu = row.node.report.cpu if row.node.report and row.is_current else None
    return cpu.util_pct if cpu else None


NAME: Field[NodeRow] = Field(
    id="node.node",
    about="name of the node, as the launcher knows it",
    kind="word",
    value=lambda row: row.node.name,
    name="node",
    sort=Sort(words="by name", turned="by name, last first", is_rising=True),
    columns={"nodes": (Column(width=10, grow=1, most=24),)},
)
STATUS: Field[NodeRow] = Field(
    id="node.status",
    about="whether its reports come",
    kind="word",
    value=lambda row: row.node.status,
    choices=get_args(NodeStatus),
    name="status",
    sort=Sort(words="lost first", turned="reporting first", key=lambda row: STATUSES.index(row.node.status)),
    columns={"nodes": (Column(width=12),)},
)
AGE: Field[NodeRow] = Field(
    id="node.age_s",
    about="time since its newest report came",
    kind="seconds",
    value=lambda row: row.node.age_s,
    name="age",
    sort=Sort(words="oldest report first", turned="newest report first"),
    columns={"nodes": (Column(width=4, priority=3),)},
)
SKEW: Field[NodeRow] = Field(
    id="node.clock_skew_s",
    about="its clock minus that of this machine",
    kind="seconds",
    format=units.signed_duration,
    value=lambda row: row.node.clock_skew_s,
    name="skew",
    sort=Sort(
        words="largest clock skew first",
        turned="smallest clock skew first",
        key=lambda row: abs(row.node.clock_skew_s or 0.0),
    ),
    columns={"nodes": (Column(width=7, priority=9),)},
)
RANKS: Field[NodeRow] = Field(
    id="node.ranks",
    about="ranks of the job on it that are alive",
    kind="count",
    value=_alive,
    name="ranks",
    sort=Sort(words="fewest ranks first", turned="most ranks first", is_rising=True),
    columns={"nodes": (Column(width=5, priority=2),)},
)
STATE: Field[NodeRow] = Field(
    id="node.state",
    about="state of its sickest rank",
    kind="word",
    value=lambda row: row.worst_rank.state if row.worst_rank else None,
    choices=get_args(RankState),
    name="state",
    sort=Sort(
        words="sickest first",
        turned="healthiest first",
        key=lambda row: None if row.worst_rank is None else -WORST_FIRST.index(row.worst_rank.state),
    ),
    columns={"nodes": (Column(width=17, priority=1),)},
)
STEP: Field[NodeRow] = Field(
    id="node.step",
    about="newest step of its slowest rank",
    kind="count",
    value=_step,
    name="step",
    sort=Sort(words="fewest steps first", turned="most steps first", is_rising=True),
    columns={"nodes": (Column(width=9, priority=5),)},
)
LAG: Field[NodeRow] = Field(
    id="node.step_lag",
    about="steps by which its slowest rank is behind the median of all ranks",
    kind="count",
    value=lambda row: row.lag,
    name="lag",
    sort=Sort(words="furthest behind first", turned="furthest ahead first"),
    own_level=Level(warning=BEHIND),
    columns={"nodes": (Column(width=4, priority=3),)},
)
STEP_TIME: Field[NodeRow] = Field(
    id="node.step_time_s",
    about="time of a step, median of its ranks",
    kind="seconds",
    format=units.step_time,
    value=_step_time,
    name="s/step",
    sort=Sort(words="slowest steps first", turned="fastest steps first"),
    columns={"nodes": (Column(width=6, priority=6),)},
)
PHASE: Field[NodeRow] = Field(
    id="node.phase",
    about="what most of its ranks are in",
    kind="word",
    value=_phase,
    name="phase",
    sort=Sort(words="by phase", turned="by phase, last first", is_rising=True),
    columns={"nodes": (Column(width=10, priority=8),)},
)
WAIT: Field[NodeRow] = Field(
    id="node.wait_pct",
    about="samples in which its ranks waited for others, mean",
    kind="percent",
    value=_wait_pct,
    name="wait",
    sort=Sort(words="least waiting first", turned="most waiting first", is_rising=True),
    columns={"nodes": (Column(width=4, priority=6),)},
)
UTIL: Field[NodeRow] = Field(
    id="node.gpu_util_pct",
    about="utilization of its GPUs, mean",
    kind="percent",
    value=_of_gpus(lambda gpu: gpu.util_pct, fmean),
    name="util",
    title="GPU",
    sort=Sort(words="least utilized first", turned="most utilized first", is_rising=True),
    columns={
        "nodes": (Column(width=4, priority=2), Column(width=6, priority=10, title="", shape="bar", grow=1, most=14)),
    },
)
POWER: Field[NodeRow] = Field(
    id="node.gpu_power_w",
    about="power of its GPUs, sum",
    kind="count",
    unit="W",
    format=units.watts,
    value=_of_gpus(lambda gpu: gpu.power_w, sum),
    name="power",
    sort=Sort(words="most power first", turned="least power first"),
    columns={"nodes": (Column(width=6, priority=7),)},
)
TEMPERATURE: Field[NodeRow] = Field(
    id="node.gpu_temp_c",
    about="temperature of its hottest GPU",
    kind="count",
    unit="°C",
    format=units.celsius,
    value=_of_gpus(lambda gpu: gpu.temp_c, max),
    name="temp",
    sort=Sort(words="hottest first", turned="coolest first"),
    columns={"nodes": (Column(width=5, priority=7),)},
)
CPU: Field[NodeRow] = Field(
    id="node.cpu_pct",
    about="busy share of all its cores",
    kind="percent",
    value=_cpu_pct,
    name="cpu",
    title="CPU",
    sort=Sort(words="most CPU first", turned="least CPU first"),
    columns={"nodes": (Column(width=4, priority=8),)},
)
MEMORY: Field[NodeRow] = Field(
    id="node.memory_pct",
    about="share of its memory in use",
    kind="percent",
    value=_memory_pct,
    name="mem",
    sort=Sort(words="most memory first", turned="least memory first"),
    columns={"nodes": (Column(width=4, priority=9),)},
)
SEVERITY: Field[NodeRow] = Field(
    id="node.severity",
    about="severity of what makes it differ from most nodes",
    kind="word",
    value=lambda row: row.severity,
    choices=get_args(Severity),
    name="severity",
)
PROBLEM: Field[NodeRow] = Field(
    id="node.problem",
    about="what makes it differ from most nodes",
    kind="word",
    value=problem,
    name="problem",
    aliases=("why",),
    sort=Sort(words="worst first", turned="best first", key=badness),
    columns={"nodes": (Column(width=16, grow=4),)},
)

NODE = Subject(
    name="node",
    title="Nodes",
    rows=rows,
    json="",
    labels={"node": NAME.value},
    fields=(
        NAME,
        STATUS,
        STATE,
        RANKS,
        STEP,
        LAG,
        STEP_TIME,
        PHASE,
        WAIT,
        UTIL,
        POWER,
        TEMPERATURE,
        CPU,
        MEMORY,
        AGE,
        SKEW,
        SEVERITY,
        PROBLEM,
    ),
)
"""In the order of the columns."""
