"""Fields of a rank."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import get_args

from msgspec import Struct

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Sort, Subject
from hwtop.fields.level import Level
from hwtop.fields.process import STATES
from hwtop.job.hang.rank_state import share_of
from hwtop.model.frame import DerivedState
from hwtop.model.rank import Rank, RankState
from hwtop.model.rank_stack import Phase
from hwtop.symptoms.verdict import SILENT_S, SILENT_TIMES

WORST_FIRST: tuple[RankState, ...] = (
    "dead",
    "stopped",
    "stuck",
    "stalled",
    "slow",
    "data-wait",
    "unknown",
    "starting",
    "collective-wait",
    "checkpoint",
    "eval",
    "training",
)
"""Who keeps the others waiting stands before those who wait."""
CYCLE = ("rank", "state", "step", "wait", "s/step", "cpu", "mem")
"""Orders of the table that one key goes through; a click on a title has all."""


class RankRow(Struct, frozen=True):
    """One rank with what its fields need to know of the rest of the job."""

    rank: Rank
    user: str | None = None
    command: str | None = None
    gpu_util_pct: float | None = None
    """Mean of its GPUs."""


def rows(derived: DerivedState) -> Iterator[RankRow]:
    """The ranks of the job, by number."""
    job = derived.job
    processes = {item.pid: item for item in job.processes} if job else {}
    utils = {gpu.index: gpu.util_pct for gpu in derived.gpus}
    for rank in job.ranks if job else ():
        process = processes.get(rank.pid)
        known = [util for index in rank.gpus if (util := utils.get(index)) is not None]
        yield RankRow(
            rank=rank,
            user=process.user if process else None,
            command=process.command if process else None,
            gpu_util_pct=fmean(known) if known else None,
        )


def _sickness(rank: Rank) -> int:
    """Of the ranks in one state, who only waits for others comes last."""
    is_waiting = rank.liveness is not None and rank.liveness.state == "waiting"
    return -2 * WORST_FIRST.index(rank.state) - is_waiting


def _silence(row: RankRow) -> Level:
    """A log is late after some of its own intervals; where those are not known yet, never."""
    interval_s = row.rank.log.interval_s
    return Level() if interval_s is None else Level(warning=SILENT_TIMES * interval_s + SILENT_S)


NUMBER: Field[RankRow] = Field(
    id="rank.rank",
    about="number of the rank",
    kind="count",
    format=units.number,
    value=lambda row: row.rank.rank,
    name="rank",
    sort=Sort(words="by number", turned="by number, highest first", is_rising=True),
    columns={"ranks": (Column(width=4),)},
    json="rank",
)
NODE: Field[RankRow] = Field(
    id="rank.node",
    about="its node, in a job over several",
    kind="word",
    value=lambda row: row.rank.node,
    name="node",
    sort=Sort(words="by node", turned="by node, last first", is_rising=True),
    columns={"ranks": (Column(width=10, priority=2),)},
)
PID: Field[RankRow] = Field(
    id="rank.pid",
    about="its process",
    kind="count",
    format=units.number,
    value=lambda row: row.rank.pid,
    name="pid",
    sort=Sort(words="by PID", turned="by PID, highest first", is_rising=True),
    columns={"ranks": (Column(width=7, priority=7),)},
    json="pid",
)
GPU: Field[RankRow] = Field(
    id="rank.gpu",
    about="index of the GPUs it uses",
    kind="count",
    format=units.number,
    value=lambda row: row.rank.gpus[0] if row.rank.gpus else None,
    values=lambda row: row.rank.gpus,
    name="gpu",
    title="GPU",
    sort=Sort(words="by GPU", turned="by GPU, highest first", is_rising=True),
    columns={"ranks": (Column(width=7, priority=5),)},
    json="gpu",
)
GPU_UTIL: Field[RankRow] = Field(
    id="rank.gpu_util_pct",
    about="utilization of its GPUs, mean",
    kind="percent",
    value=lambda row: row.gpu_util_pct,
    title="GPU util",
    is_low=True,
)
STATE: Field[RankRow] = Field(
    id="rank.state",
    about="what it does; a filter also takes the letter of its process state",
    kind="word",
    value=lambda row: row.rank.state,
    values=lambda row: (row.rank.state, row.rank.process.os_state),
    choices=(*get_args(RankState), *STATES),
    name="state",
    sort=Sort(
        words="sickest first",
        turned="healthiest first",
        key=lambda row: _sickness(row.rank),
    ),
    columns={"ranks": (Column(width=17),)},
    json="state",
)
STEP: Field[RankRow] = Field(
    id="rank.step",
    about="its newest step",
    kind="count",
    value=lambda row: row.rank.progress.step,
    name="step",
    sort=Sort(words="fewest steps first", turned="most steps first", is_rising=True),
    columns={"ranks": (Column(width=9, priority=1),)},
    json="step",
)
STEP_AGE: Field[RankRow] = Field(
    id="rank.step_age_s",
    about="time since its newest step was reported",
    kind="seconds",
    value=lambda row: row.rank.progress.step_age_s,
    name="ago",
    sort=Sort(words="oldest step first", turned="newest step first"),
    columns={"ranks": (Column(width=4, priority=4),)},
    json="step_age_s",
)
STEP_TIME: Field[RankRow] = Field(
    id="rank.step_time_s",
    about="time of a step, median of the recent ones",
    kind="seconds",
    format=units.step_time,
    value=lambda row: row.rank.progress.step_time_s,
    name="s/step",
    sort=Sort(words="slowest steps first", turned="fastest steps first"),
    columns={"ranks": (Column(width=6, priority=2),)},
    json="step_time_s",
)
PHASE: Field[RankRow] = Field(
    id="rank.phase",
    about="what its main thread is in",
    kind="word",
    value=lambda row: row.rank.stack.phase,
    choices=get_args(Phase),
    name="phase",
    sort=Sort(words="by phase", turned="by phase, last first", is_rising=True),
    columns={"ranks": (Column(width=15, priority=1),)},
    json="phase",
)
PHASES: Field[RankRow] = Field(
    id="rank.phases",
    about="share of each phase in its samples, as a bar",
    kind="word",
    value=lambda row: ", ".join(f"{each.phase} {100 * each.share:.0f}%" for each in row.rank.stack.shares) or None,
    title="phases",
    columns={"ranks": (Column(width=6, priority=6, grow=1, most=30),)},
)
WAIT: Field[RankRow] = Field(
    id="rank.wait_pct",
    about="samples in which it waited for other ranks, at barriers as well; not for data",
    kind="percent",
    value=lambda row: None if (share := row.rank.stack.all_waits_share) is None else 100 * share,
    name="wait",
    sort=Sort(words="least waiting first", turned="most waiting first", is_rising=True),
    columns={"ranks": (Column(width=4, priority=3),)},
)
DATA: Field[RankRow] = Field(
    id="rank.data_pct",
    about="samples in which it waited for data, or loaded it itself",
    kind="percent",
    value=lambda row: 100 * share_of(row.rank, "data", "data-main") if row.rank.stack.shares else None,
    name="data",
    sort=Sort(words="most data loading first", turned="least data loading first"),
    columns={"ranks": (Column(width=4, priority=9),)},
)
CPU: Field[RankRow] = Field(
    id="rank.cpu_pct",
    about="CPU of the rank and its workers; 100 = one core",
    kind="percent",
    value=lambda row: row.rank.process.tree_cpu_pct,
    name="cpu",
    title="CPU",
    sort=Sort(words="most CPU first", turned="least CPU first"),
    columns={"ranks": (Column(width=5, priority=3),)},
    json="tree_cpu_pct",
)
MEMORY: Field[RankRow] = Field(
    id="rank.rss_bytes",
    about="resident memory of its process",
    kind="bytes",
    value=lambda row: row.rank.process.rss_bytes,
    name="mem",
    sort=Sort(words="most memory first", turned="least memory first"),
    columns={"ranks": (Column(width=5, priority=8),)},
    json="rss_bytes",
)
WORKERS: Field[RankRow] = Field(
    id="rank.workers",
    about="its DataLoader workers; the column shows how many are in each process state",
    kind="count",
    value=lambda row: len(row.rank.workers),
    name="workers",
    sort=Sort(words="most workers first", turned="fewest workers first"),
    columns={"ranks": (Column(width=8, priority=9, align="left"),)},
)
LOG_AGE: Field[RankRow] = Field(
    id="rank.log_age_s",
    about="time since it last wrote to its log",
    kind="seconds",
    value=lambda row: row.rank.log.age_s,
    name="log",
    sort=Sort(words="most silent first", turned="newest log first"),
    own_level=_silence,
    columns={"ranks": (Column(width=5, priority=4),)},
    json="log_age_s",
)
LAST_LINE: Field[RankRow] = Field(
    id="rank.last_line",
    about="newest line of its log",
    kind="word",
    value=lambda row: row.rank.log.last_line,
    title="last line",
    columns={"ranks": (Column(width=24, priority=10, grow=3),)},
    json="last_line",
)
USER: Field[RankRow] = Field(
    id="rank.user", about="owner of its process", kind="word", value=lambda row: row.user, name="user"
)
COMMAND: Field[RankRow] = Field(
    id="rank.command",
    about="its command line",
    kind="word",
    value=lambda row: row.command,
    name="command",
    aliases=("cmd",),
)

RANK = Subject(
    name="rank",
    title="Ranks",
    rows=lambda frame: rows(frame.derived),
    json="job.ranks",
    labels={"rank": NUMBER.value, "gpu": GPU.value, "node": NODE.value},
    optional_labels=frozenset({"node"}),
    fields=(
        NUMBER,
        NODE,
        PID,
        GPU,
        GPU_UTIL,
        STATE,
        STEP,
        STEP_AGE,
        STEP_TIME,
        PHASE,
        PHASES,
        WAIT,
        DATA,
        CPU,
        MEMORY,
        WORKERS,
        LOG_AGE,
        LAST_LINE,
        USER,
        COMMAND,
    ),
)
"""In the order of the columns."""
