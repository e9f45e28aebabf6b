"""A decoded Flight Recorder dump -> FlightDump. Pure, and patient with what the versions and backends of torch differ in.

Format: torch/csrc/distributed/c10d/FlightRecorder.hpp, version 2.x ("2.10" in torch 2.13). Differences that are met:
- `pg_config` of gloo has the single key "", whatever the groups are called; its ranks are those of the group made last.
- `pg_status` holds strings in JSON, ints in pickles, and is keyed by the process's own number of a group (`pg_id`).
- JSON leaves out `entries` when there are none and `frames` always; unknown times are None in pickles, 0 in JSON.
- version 1 calls the sequence `seq_id` and has neither `pg_status` nor dtypes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from hwtop.job.stacks.frames import is_user_frame
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.flight import FlightDump, FlightEntry, FlightGroup, FlightState
from hwtop.model.stack import StackFrame

_MOST_ENTRIES = 200_000
_MOST_TENSORS = 256
_MOST_DIMENSIONS = 16
_MOST_FRAMES = 256
_KEPT_FRAMES = 8
_KEPT_ENTRIES = 64
"""Newest entries of a group that are kept beside the open ones; a live dump is in every snapshot."""

_DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
"""Names of c10::ScalarType -> those that users write."""

_LIBRARY = lazy_regex(
    r".*/(?:site-packages|dist-packages)/"
    r"|.*/lib(?:64)?/python3\.\d+t?/"
    r"|.*/(?=torch/(?:distributed|nn|utils|autograd|optim|multiprocessing|_\w+)/)"
)
"""What stands before the name of a library's file relative to its package."""


def flight_dump(
    document: object,
    *,
    rank: int | None,
    origin: str,
    at_s: float,
    taken_s: float | None = None,
    is_asked: bool = False,
) -> FlightDump:
    """What `document`, a decoded pickle or JSON text, says. Never raises: a dump that is none carries its `error`."""
    dump = FlightDump(rank=rank, origin=origin, at_s=at_s, taken_s=taken_s, is_asked=is_asked)
    if not isinstance(document, Mapping) or not {"entries", "pg_config", "pg_status"} & set(document):
        return replace(dump, error="not a Flight Recorder dump: it holds neither entries nor process groups")
    version = str(document.get("version", ""))
    if version.partition(".")[0] not in ("", "1", "2"):
        return replace(dump, error=f"Flight Recorder format {version[:20]} is not known; 2.x is")
    raws = _newest_of_each_group([raw for raw in _list(document.get("entries")) if isinstance(raw, Mapping)])
    entries = tuple(entry for raw in raws if (entry := _entry(raw)) is not None)
    return replace(dump, version=version, groups=_groups(document, raws), entries=entries)


def trimmed(dump: FlightDump) -> FlightDump:
    """Without the entries that tell nothing any more: of each group the newest 64 and the first 64 open ones remain."""
    kept: set[int] = set()
    by_group: dict[str, list[int]] = {}
    for index, entry in enumerate(dump.entries):
        by_group.setdefault(entry.group, []).append(index)
    for indices in by_group.values():
        open_ones = [index for index in indices if not dump.entries[index].is_retired]
        kept.update(indices[-_KEPT_ENTRIES:], open_ones[:_KEPT_ENTRIES])
    if len(kept) == len(dump.entries):
        return dump
    return replace(dump, entries=tuple(entry for index, entry in enumerate(dump.entries) if index in kept))


def _newest_of_each_group(raws: Sequence[Mapping[object, object]]) -> list[Mapping[object, object]]:
    """A group that was destroyed and made anew under its old name starts to count again: only the newest life counts."""
    newest: dict[tuple[str, str], int] = {}
    for raw in raws:
        newest[_group_name(raw)] = _int(raw.get("pg_id")) or 0
    return [raw for raw in raws if newest[_group_name(raw)] == (_int(raw.get("pg_id")) or 0)]


def _groups(document: Mapping[object, object], raws: Sequence[Mapping[object, object]]) -> tuple[FlightGroup, ...]:
    config, status = _mapping(document.get("pg_config")), _mapping(document.get("pg_status"))
    ids = {_group_name(raw): str(raw.get("pg_id", "")) for raw in raws}
    for key, value in config.items():
        reported = _mapping(value)
        if key != "":
            ids.setdefault((str(reported.get("name", key)), str(reported.get("desc", ""))), "")
    if "0" in {str(key) for key in status} and "0" not in ids.values():
        # the first group a process makes is the default one, also where none of its operations is active
        default = next((name for name in ids if name[0] == "0"), ("0", "default_pg"))
        ids[default] = "0"
    by_id = {str(key): _mapping(value) for key, value in status.items()}
    return tuple(_group(name, config.get(name[0]), by_id.get(number, {})) for name, number in ids.items())


def _group(name: tuple[str, str], config: object, status: Mapping[object, object]) -> FlightGroup:
    ranks = _ranks(_mapping(config).get("ranks"))
    started = _int(status.get("last_started_collective"))
    return FlightGroup(
        name=name[0],
        description=name[1],
        ranks=ranks,
        last_enqueued=_int(status.get("last_enqueued_collective")),
        last_started=started if started != -1 else None,
        last_completed=_int(status.get("last_completed_collective")),
    )


def _entry(raw: Mapping[object, object]) -> FlightEntry | None:
    is_p2p = raw.get("is_p2p") is True
    sequence = _int(raw.get("p2p_seq_id" if is_p2p else "collective_seq_id", raw.get("seq_id")))
    profiling = raw.get("profiling_name")
    if sequence is None or not isinstance(profiling, str):
        return None
    backend, _, operation = profiling.rpartition(":")
    created_ns, timeout_ms = _int(raw.get("time_created_ns")), _int(raw.get("timeout_ms"))
    return FlightEntry(
        group=_group_name(raw)[0],
        sequence=sequence,
        is_p2p=is_p2p,
        operation=operation[:200],
        backend=backend[:40],
        input_sizes=_sizes(raw.get("input_sizes")),
        output_sizes=_sizes(raw.get("output_sizes")),
        input_dtypes=_dtypes(raw.get("input_dtypes")),
        output_dtypes=_dtypes(raw.get("output_dtypes")),
        state=_state(raw.get("state")),
        is_retired=raw.get("retired") is True,
        created_s=created_ns / 1e9 if created_ns else None,
        timeout_s=timeout_ms / 1000 if timeout_ms else None,
        frames=_frames(raw.get("frames")),
    )


def _group_name(raw: Mapping[object, object]) -> tuple[str, str]:
    reported = raw.get("process_group", raw.get("pg_name"))
    if isinstance(reported, (list, tuple)) and reported:
        return str(reported[0])[:200], str(reported[1])[:200] if len(reported) > 1 else ""
    return str(raw.get("pg_id", "0") if reported is None else reported)[:200], ""


def _state(value: object) -> FlightState:
    if value == "completed":
        return "completed"
    return "started" if value == "started" else "scheduled"


def _frames(value: object) -> tuple[StackFrame, ...]:
    return tuple(list(_user_frames(_list(value)[:_MOST_FRAMES]))[:_KEPT_FRAMES])


def _user_frames(raws: Iterable[object]) -> Iterable[StackFrame]:
    for raw in raws:
        reported = _mapping(raw)
        filename = str(reported.get("filename", ""))
        if not filename.endswith(".py") and not filename.startswith("<"):
            continue  # C++
        short = _LIBRARY.sub("", filename, count=1)
        short = filename.rsplit("/", 1)[-1] if short == filename else short
        line = _int(reported.get("line")) or 0
        frame = StackFrame(name=str(reported.get("name", ""))[:200], filename=filename, short_filename=short, line=line)
        if is_user_frame(frame):
            yield frame


def _sizes(value: object) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(number for each in _list(size)[:_MOST_DIMENSIONS] if (number := _int(each)) is not None)
        for size in _list(value)[:_MOST_TENSORS]
    )


def _dtypes(value: object) -> tuple[str, ...]:
    return tuple(_DTYPES.get(str(each), str(each)[:40]) for each in _list(value)[:_MOST_TENSORS])


def _ranks(value: object) -> tuple[int, ...] | None:
    """ "[0, 1]" or a list; None where it is empty, which is said of groups that are not known."""
    numbers = (
        re.findall(r"\d{1,9}", value) if isinstance(value, str) else [_int(each) for each in _list(value)[:1_000_000]]
    )
    return tuple(sorted({int(each) for each in numbers if each is not None})) or None


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return value[-_MOST_ENTRIES:] if isinstance(value, (list, tuple)) else ()


def _int(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value) else None
