"""The rows of the processes page: a branch with many processes is folded into one row. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.fields.field import Field, Value
from hwtop.fields.process import ProcessRow, state_word
from hwtop.model.member import JobProcess

_MANY = 4
"""Helpers of one rank above which they have one row until the person wants to see each; engineering default: as many
workers for each of eight ranks still fit an ordinary terminal."""


class TreeRow(Struct, frozen=True):
    """One process, or all below a folded one."""

    processes: tuple[JobProcess, ...]
    depth: int
    folded_pid: int | None = None
    """Of the process that they are folded below; None: one process, seen on its own."""
    branch: str = ""
    """What leads to it from the rows above: "│ └ "."""

    @property
    def process(self) -> JobProcess:
        """The first of them."""
        return self.processes[0]

    @property
    def rank(self) -> int | None:
        """Of all of them."""
        ranks = {item.rank for item in self.processes}
        return ranks.pop() if len(ranks) == 1 else None

    def value(self, field: Field[ProcessRow]) -> Value:
        """Of one process, or of all of them together."""
        if self.folded_pid is None:
            return field.value(ProcessRow(self.process))
        return field.several([field.value(ProcessRow(item)) for item in self.processes]) if field.several else None

    @property
    def name(self) -> str:
        """ "+ 14 loader workers", or the role."""
        if self.folded_pid is None:
            return self.process.role
        return "+ " + ", ".join(counted(self.processes))

    @property
    def words(self) -> str:
        """How many of a folded branch are in each state; it stands in place of the command."""
        if self.folded_pid is None:
            return ""
        states = Counter(item.state for item in self.processes)
        return ", ".join(f"{count} {state_word(state)}" for state, count in states.most_common())


def counted(processes: Sequence[JobProcess]) -> list[str]:
    """ "14 loader workers", "1 resource tracker": how many there are of each role, most first."""
    roles = Counter(item.role.replace("-", " ") for item in processes)
    return [f"{count} {role if count == 1 else _many(role)}" for role, count in roles.most_common()]


def _many(role: str) -> str:
    return "others" if role == "other" else f"{role}s"


def folded(folds: Mapping[int, bool], processes: Sequence[JobProcess]) -> tuple[TreeRow, ...]:
    """The rows of processes in the order of their tree."""
    rows: list[TreeRow] = []
    at = 0
    while at < len(processes):
        item = processes[at]
        end = _end(processes, at)
        rows.append(TreeRow((item,), item.depth))
        at += 1
        if at < end and _is_folded(folds, item, processes[at:end]):
            rows.append(TreeRow(tuple(processes[at:end]), item.depth + 1, item.pid))
            at = end
    return _branched(rows)


def plain(processes: Sequence[JobProcess], *, is_tree: bool) -> tuple[TreeRow, ...]:
    """A row for each process."""
    rows = [TreeRow((item,), item.depth) for item in processes]
    return _branched(rows) if is_tree else tuple(rows)


def _branched(rows: Sequence[TreeRow]) -> tuple[TreeRow, ...]:
    """The rows with their branches, drawn from the last row up: a level goes on where another row of it follows."""
    drawn: list[TreeRow] = []
    going_on: set[int] = set()
    for row in reversed(rows):
        before = "".join("│ " if level in going_on else "  " for level in range(1, row.depth))
        here = ("├ " if row.depth in going_on else "└ ") if row.depth else ""
        drawn.append(replace(row, branch=before + here))
        going_on = {level for level in going_on if level < row.depth} | {row.depth}
    return tuple(reversed(drawn))


def toggled(processes: Sequence[JobProcess], row: TreeRow, is_wanted: bool) -> dict[int, bool]:
    """What is folded or not after this: the branch below the process of the row, or without one that it is part of."""
    if row.folded_pid is not None:
        return {} if is_wanted else {row.folded_pid: False}
    at = next(place for place, item in enumerate(processes) if item.pid == row.process.pid)
    is_branch = _end(processes, at) > at + 1
    if not is_branch and is_wanted:
        above = [item for item in processes[:at] if item.depth < row.depth]
        return {above[-1].pid: True} if above else {}
    return {row.process.pid: is_wanted} if is_branch else {}


def all_toggled(processes: Sequence[JobProcess], rows: Sequence[TreeRow]) -> dict[int, bool]:
    """Every branch open, or where all are open every branch of a rank folded."""
    is_any_folded = any(row.folded_pid is not None for row in rows)
    ranks = (item.pid for item in processes if item.role == "rank")
    branches = (item.pid for item in processes)
    return dict.fromkeys(branches, False) if is_any_folded else dict.fromkeys(ranks, True)


def _is_folded(folds: Mapping[int, bool], item: JobProcess, below: Sequence[JobProcess]) -> bool:
    is_many = len(below) > _MANY and item.role == "rank" and all(each.role != "rank" for each in below)
    return folds.get(item.pid, is_many)


def _end(processes: Sequence[JobProcess], at: int) -> int:
    """Where the branch of the process at this place ends."""
    end = at + 1
    while end < len(processes) and processes[end].depth > processes[at].depth:
        end += 1
    return end
