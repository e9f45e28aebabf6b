"""A folder of dump files -> the dump of each rank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hwtop.collectors.flight.file import MOST_BYTES, RANK, parse
from hwtop.errors import CannotError, UsageError
from hwtop.model.reported.flight import FlightDump

_MOST_FILES = 4096
_EXPECTED = "files are named prefix + rank, such as comm_lib_trace_rank_0 or nccl_trace_rank_0"


def dumps_in(place: str) -> tuple[FlightDump, ...]:
    """The dumps of one set in a folder, by rank; `place` may also be folder/prefix. Times are seconds after the epoch.

    Raises:
        UsageError: no such folder, or several sets of dumps in it.
        CannotError: no dump in it, or none that can be read.
    """
    folder, prefix = _folder(place)
    sets: dict[str, list[FlightDump]] = {}
    for path, name, rank in _files(folder, prefix):
        sets.setdefault(name, []).append(_read(path, rank))
    # a folder may hold other files with a number at the end: a set counts when one of its files is a dump
    good = {name: dumps for name, dumps in sets.items() if any(dump.error is None for dump in dumps)}
    if not good:
        broken = [dump for dumps in sets.values() for dump in dumps]
        if not broken:
            raise CannotError(f"no Flight Recorder dump in {folder}: {_EXPECTED}")
        raise CannotError(f"no readable Flight Recorder dump in {folder}: {broken[0].origin}: {broken[0].error}")
    if len(good) > 1:
        names = sorted(good)
        some = ", ".join(f"{name}*" for name in names[:4])
        example = os.path.join(folder, names[0])
        raise UsageError(f"several sets of dumps in {folder} ({some}): name one of them, such as {example}")
    return _one_a_rank(next(iter(good.values())))


def _folder(place: str) -> tuple[str, str]:
    path = str(Path(place).expanduser())
    if os.path.isdir(path):
        return path, ""
    folder, prefix = os.path.split(path)
    if os.path.isfile(path):
        raise UsageError(f"{place} is one file: give the folder that holds the dumps of all ranks")
    folder = folder or "."
    if prefix and os.path.isdir(folder) and any(name.startswith(prefix) for name in os.listdir(folder)):
        return folder, prefix
    raise UsageError(f"no such folder: {place}; give the folder that the dumps were written to")


def _files(folder: str, prefix: str) -> list[tuple[str, str, int]]:
    """(path, prefix of the set, rank)."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise CannotError(f"cannot list {folder}: {error.strerror}") from error
    found = []
    for name in names:
        match = RANK.match(name)
        path = os.path.join(folder, name)
        if match is not None and name.startswith(prefix) and os.path.isfile(path):
            found.append((path, match["prefix"], int(match["rank"])))
    return found[:_MOST_FILES]


def _read(path: str, rank: int) -> FlightDump:
    try:
        modified_s = os.stat(path).st_mtime
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return FlightDump(rank=rank, origin=path, at_s=0.0, error=f"cannot read: {error.strerror}")
    return parse(data, rank=rank, origin=path, at_s=modified_s, taken_s=modified_s)


def _one_a_rank(dumps: Sequence[FlightDump]) -> tuple[FlightDump, ...]:
    """Of a rank's pickle and JSON the one that can be read and holds stacks."""
    best: dict[int, FlightDump] = {}
    for dump in sorted(dumps, key=_worth):
        best[dump.rank or 0] = dump
    return tuple(best[rank] for rank in sorted(best))


def _worth(dump: FlightDump) -> tuple[bool, bool]:
    return dump.error is None, any(entry.frames for entry in dump.entries)
