"""What one rank issued as operation number N of a group, what of it must be equal on all ranks, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from msgspec import Struct

from hwtop.job.stacks.frames import place, user_frame
from hwtop.model.reported.flight import FlightDump, FlightEntry, FlightGroup
from hwtop.model.stack import StackFrame

_ALIASES = {
    "_all_gather_base": "all_gather",
    "all_gather_single": "all_gather",
    "_reduce_scatter_base": "reduce_scatter",
    "reduce_scatter_single": "reduce_scatter",
    "_broadcast_oop": "broadcast",
    "_reduce_oop": "reduce",
    "all_reduce_barrier": "barrier",
    "all_to_all_single": "all_to_all",
    "all_to_all_v_single": "all_to_all",
}
"""Names of one operation on the wire (torch/distributed/flight_recorder/components/types.py lists them)."""

_FREE_INPUT = frozenset({"all_to_all", "scatter", "barrier", "all_gather_v"})
"""Operations whose input may differ from rank to rank; as torch's own analyser has it, which adds that the sizes of an
all_to_all must agree in sum."""
_FREE_OUTPUT = frozenset({"all_to_all", "gather", "barrier", "reduce_scatter_v"})
_COALESCED = "coalesced"
"""Recorded after the members of a coalesced batch, with their sequence number; it alone carries the state."""


class Call(Struct, frozen=True, kw_only=True):
    """All that a rank enqueued under one sequence number of a group: one operation, or a coalesced batch."""

    rank: int
    sequence: int
    entries: tuple[FlightEntry, ...]
    """Without the closing "coalesced" entry, unless that is all there is."""
    is_started: bool
    is_done: bool
    created_s: float | None


class Signature(Struct, frozen=True):
    """What must be equal on all ranks of a group. Sizes as numbers of elements: the wire knows no shapes."""

    operations: tuple[str, ...]
    elements: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    dtypes: tuple[tuple[str, ...], ...]


def calls_of(dump: FlightDump, group: FlightGroup) -> dict[int, Call]:
    """Sequence number -> call, of the collectives of one rank in one group."""
    by_sequence: dict[int, list[FlightEntry]] = {}
    for entry in dump.entries:
        if entry.group == group.name and not entry.is_p2p:
            by_sequence.setdefault(entry.sequence, []).append(entry)
    rank = dump.rank or 0
    return {sequence: _call(rank, group, entries) for sequence, entries in by_sequence.items()}


def _call(rank: int, group: FlightGroup, entries: Sequence[FlightEntry]) -> Call:
    members = tuple(entry for entry in entries if entry.operation != _COALESCED)
    closing = [entry for entry in entries if entry.operation == _COALESCED] or list(members)
    sequence = entries[0].sequence
    created = [entry.created_s for entry in entries if entry.created_s is not None]
    is_started = any(entry.state != "scheduled" for entry in closing)
    return Call(
        rank=rank,
        sequence=sequence,
        entries=members or tuple(entries),
        is_started=is_started or (group.last_started is not None and group.last_started >= sequence),
        is_done=all(_is_done(entry, group) for entry in closing),
        created_s=min(created, default=None),
    )


def _is_done(entry: FlightEntry, group: FlightGroup) -> bool:
    """Gloo entries stay "scheduled" for ever and are retired when done; its status may lag behind, as its threads finish out
    of order. NCCL retires what timed out as well, so there the state decides, or the status that the watchdog keeps.
    """
    if entry.backend == "gloo":
        return entry.is_retired
    return entry.state == "completed" or (group.last_completed is not None and entry.sequence <= group.last_completed)


def completed(group: FlightGroup, calls: Mapping[int, Call]) -> int | None:
    """Number of the last operation that the rank finished; -1 = none, None = not told."""
    reported = [] if group.last_completed is None else [group.last_completed]
    return max((*reported, *(call.sequence for call in calls.values() if call.is_done)), default=None)


def operations_of(call: Call) -> tuple[str, ...]:
    """Canonical names, in order."""
    return tuple(_ALIASES.get(entry.operation, entry.operation) for entry in call.entries)


def signature(call: Call) -> Signature:
    """What must be equal."""
    names = operations_of(call)
    pairs = list(zip(names, call.entries, strict=True))
    return Signature(
        names,
        tuple(
            (
                () if name in _FREE_INPUT else elements(entry.input_sizes),
                () if name in _FREE_OUTPUT else elements(entry.output_sizes),
            )
            for name, entry in pairs
        ),
        tuple(() if name == "barrier" else _dtypes(entry) for name, entry in pairs),
    )


def elements(sizes: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Number of elements of each tensor."""
    return tuple(prod(size) for size in sizes)


def exchange(call: Call) -> tuple[int, int] | None:
    """Elements sent and received in an all_to_all; None for anything else."""
    if operations_of(call) != ("all_to_all",):
        return None
    entry = call.entries[0]
    return sum(elements(entry.input_sizes)), sum(elements(entry.output_sizes))


def written(call: Call) -> str:
    """ "all_reduce #1580 [1024] float32"."""
    entry = call.entries[0]
    more = len(call.entries) - 1
    tail = f" and {more} more in one batch" if more else ""
    return f"{entry.operation} #{call.sequence}{tensors(entry)}{tail}"


def tensors(entry: FlightEntry) -> str:
    """ " [1024] float32" with a space before it, or "" of an operation without tensors."""
    sizes = entry.input_sizes or entry.output_sizes
    dtypes = entry.input_dtypes or entry.output_dtypes
    if not sizes:
        return ""
    more = f" and {len(sizes) - 1} more" if len(sizes) > 1 else ""
    dtype = f" {dtypes[0]}" if dtypes else ""
    return f" [{', '.join(str(each) for each in sizes[0])}]{dtype}{more}"


def site(entry: FlightEntry, rank: int, now_at: Mapping[int, StackFrame]) -> str:
    """ " (train.py:231 train_step)": where the user's code enqueued it; where the dump holds no stack, where the rank is now."""
    frame = user_frame(entry.frames)
    if frame is not None:
        return f" ({place(frame)})"
    return f" (now at {place(now_at[rank])})" if rank in now_at else ""


def _dtypes(entry: FlightEntry) -> tuple[str, ...]:
    return tuple(sorted({*entry.input_dtypes, *entry.output_dtypes}))
