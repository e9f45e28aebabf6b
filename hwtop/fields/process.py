"""Fields of a process of the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec import Struct

from hwtop.fields import units
from hwtop.fields.field import Column, Field, Sort, Subject, Value
from hwtop.fields.level import Level
from hwtop.fields.ratio import percent
from hwtop.model.frame import DerivedState
from hwtop.model.member import HelperKind, JobProcess

STATES = {
    "R": "running",
    "S": "sleeping",
    "D": "disk wait",
    "T": "stopped",
    "t": "traced",
    "Z": "zombie",
    "X": "dead",
    "I": "idle",
}
"""Letter of a process state -> its word; "D" is mostly, not always, a wait for a disk."""
SICKEST_FIRST = "ZXTtDRSI"
"""Letters of process states."""
FILES_LEVEL = Level(warning=80)
"""Percent of the limit of open files; engineering default."""
CYCLE = ("tree", "cpu", "mem", "threads", "read", "write", "pid")
"""Orders of the table that one key goes through; a click on a title has all."""


class ProcessRow(Struct, frozen=True):
    """One process with what its fields need to know of the rest of the job."""

    process: JobProcess
    gpus: tuple[int, ...] = ()
    """Of its rank."""


def rows(derived: DerivedState) -> Iterator[ProcessRow]:
    """The processes of the job, in the order of their tree."""
    job = derived.job
    gpus = {rank.rank: rank.gpus for rank in job.ranks} if job else {}
    for item in job.processes if job else ():
        yield ProcessRow(item, gpus.get(item.rank, ()) if item.rank is not None else ())


def state_word(letter: str) -> str:
    """The word of a process state."""
    return STATES.get(letter, letter)


def _total(values: Sequence[Value]) -> Value:
    """As far as known."""
    known = [value for value in values if isinstance(value, int | float)]
    return sum(known) if known else None


def _same(values: Sequence[Value]) -> Value:
    """What all of them have."""
    return values[0] if len(set(values)) == 1 else None


def _sickest(values: Sequence[Value]) -> Value:
    return min(values, key=lambda letter: SICKEST_FIRST.find(str(letter)) % 100)


PID: Field[ProcessRow] = Field(
    id="process.pid",
    about="its process id",
    kind="count",
    format=units.number,
    value=lambda row: row.process.pid,
    name="pid",
    sort=Sort(words="by PID", turned="by PID, highest first", is_rising=True),
    columns={"processes": (Column(width=9),), "busiest": (Column(width=7),)},
    json="pid",
)
ROLE: Field[ProcessRow] = Field(
    id="process.role",
    about="what it is in the job",
    kind="word",
    value=lambda row: row.process.role,
    choices=("rank", *get_args(HelperKind)),
    name="role",
    sort=Sort(words="by role", turned="by role, last first", is_rising=True),
    columns={"processes": (Column(width=22, grow=1, most=34),), "busiest": (Column(width=13, grow=1, most=20),)},
    json="role",
)
RANK: Field[ProcessRow] = Field(
    id="process.rank",
    about="the rank it belongs to",
    kind="count",
    format=units.number,
    value=lambda row: row.process.rank,
    several=_same,
    name="rank",
    sort=Sort(words="by rank", turned="by rank, highest first", is_rising=True),
    columns={"processes": (Column(width=4, priority=2),), "busiest": (Column(width=4),)},
    json="rank",
)
GPU: Field[ProcessRow] = Field(
    id="process.gpu",
    about="index of the GPUs of its rank",
    kind="count",
    format=units.number,
    value=lambda row: row.gpus[0] if row.gpus else None,
    values=lambda row: row.gpus,
    name="gpu",
)
STATE: Field[ProcessRow] = Field(
    id="process.state",
    about="state of the process, its letter or its word",
    kind="word",
    value=lambda row: row.process.state,
    values=lambda row: (row.process.state, state_word(row.process.state)),
    choices=(*STATES, *STATES.values()),
    several=_sickest,
    name="state",
    sort=Sort(
        words="sickest first",
        turned="healthiest first",
        key=lambda row: -SICKEST_FIRST.find(row.process.state),
    ),
    columns={"processes": (Column(width=11),), "busiest": (Column(width=11, priority=2),)},
    json="state",
)
CPU: Field[ProcessRow] = Field(
    id="process.cpu_pct",
    about="CPU; 100 = one core",
    kind="percent",
    value=lambda row: row.process.cpu_pct,
    several=_total,
    name="cpu",
    title="CPU",
    sort=Sort(words="most CPU first", turned="least CPU first"),
    columns={"processes": (Column(width=5, priority=1),), "busiest": (Column(width=5),)},
    json="cpu_pct",
)
MEMORY: Field[ProcessRow] = Field(
    id="process.rss_bytes",
    about="resident memory; processes count the pages that they share each",
    kind="bytes",
    value=lambda row: row.process.rss_bytes,
    name="mem",
    sort=Sort(words="most memory first", turned="least memory first"),
    columns={"processes": (Column(width=5, priority=1),), "busiest": (Column(width=5, priority=1),)},
    json="rss_bytes",
)
THREADS: Field[ProcessRow] = Field(
    id="process.thread_count",
    about="its threads",
    kind="count",
    format=units.number,
    value=lambda row: row.process.thread_count,
    several=_total,
    name="threads",
    sort=Sort(words="most threads first", turned="fewest threads first"),
    columns={"processes": (Column(width=7, priority=5),)},
    json="thread_count",
)
READ: Field[ProcessRow] = Field(
    id="process.read_bytes_per_s",
    about="read from storage, a second",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.process.read_bytes_per_s,
    several=_total,
    name="read",
    sort=Sort(words="most read first", turned="least read first"),
    columns={"processes": (Column(width=7, priority=4),)},
    json="read_bytes_per_s",
)
WRITE: Field[ProcessRow] = Field(
    id="process.written_bytes_per_s",
    about="written to storage, a second",
    kind="bytes",
    unit="B/s",
    format=units.rate,
    value=lambda row: row.process.written_bytes_per_s,
    several=_total,
    name="write",
    sort=Sort(words="most written first", turned="least written first"),
    columns={"processes": (Column(width=7, priority=5),)},
    json="written_bytes_per_s",
)
FILES: Field[ProcessRow] = Field(
    id="process.fd_count",
    about="its open file descriptors",
    kind="count",
    value=lambda row: row.process.fd_count,
    several=_total,
    name="files",
    sort=Sort(words="most files first", turned="fewest files first"),
    columns={"processes": (Column(width=5, priority=6),)},
    json="fd_count",
)
FILES_USED: Field[ProcessRow] = Field(
    id="process.fd_used_pct",
    about="open file descriptors, of its limit",
    kind="percent",
    value=lambda row: percent(row.process.fd_count, row.process.fd_limit),
    title="files of limit",
    own_level=FILES_LEVEL,
)
WCHAN: Field[ProcessRow] = Field(
    id="process.wchan",
    about="kernel function that its main thread waits in",
    kind="word",
    value=lambda row: row.process.wchan,
    several=_same,
    name="wchan",
    columns={"processes": (Column(width=18, priority=3),)},
    json="wchan",
)
USER: Field[ProcessRow] = Field(
    id="process.user",
    about="its owner",
    kind="word",
    value=lambda row: row.process.user,
    name="user",
    json="user",
)
COMMAND: Field[ProcessRow] = Field(
    id="process.command",
    about="its command line",
    kind="word",
    value=lambda row: row.process.command,
    name="command",
    aliases=("cmd",),
    columns={"processes": (Column(width=20, priority=7, grow=5),), "busiest": (Column(width=20, priority=3, grow=5),)},
    json="command",
)

PROCESS = Subject(
    name="process",
    title="Processes of the job",
    rows=lambda frame: rows(frame.derived),
    json="job.processes",
    labels={"pid": PID.value, "rank": RANK.value},
    fields=(
        PID,
        ROLE,
        RANK,
        GPU,
        STATE,
        CPU,
        MEMORY,
        THREADS,
        READ,
        WRITE,
        FILES,
        FILES_USED,
        WCHAN,
        USER,
        COMMAND,
    ),
)
"""In the order of the columns."""
