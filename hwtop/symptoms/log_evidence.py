"""What the named groups of log events say in words: numbers of out-of-memory messages, ranks behind in a collective, victims.

Pure: events -> sentences, and the next steps that follow from those numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from hwtop.job.rank_set import named
from hwtop.model.reported.log import LogEvent
from hwtop.seconds import span
from hwtop.symptoms.text import quoted

_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_UNITS |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_PART = 0.05
"""Of the GPU's memory, as a message about a failed allocation names it: reserved by PyTorch but unallocated (torch's message says
"large"), or held by nobody that it names, beyond what a CUDA context takes. Engineering default."""
_GROUP = re.compile(r"PG (?:ID )?(\d+)")
"""Process group in torch's watchdog lines; work is numbered in each for itself."""


def sentences(events: Sequence[LogEvent]) -> tuple[str, ...]:
    """What the numbers in these events of one pattern say; empty where there are none."""
    reporter = _TELLERS.get(events[0].pattern) if events else None
    reported = reporter(events) if reporter else ()
    places = dict.fromkeys(event.groups["at"] for event in events if event.groups.get("at"))
    return (*reported, *(f"raised at {quoted(place)}" for place in list(places)[:2]))


def steps(events: Sequence[LogEvent]) -> tuple[str, ...]:
    """What to do about just these events, before what the playbook says of the symptom."""
    own = tuple(dict.fromkeys(step for event in events[:3] for step in event.playbook))
    return (*_memory_steps(_memory(events)), *own) if events and events[0].pattern == "cuda-oom" else own


def ranks_behind(events: Sequence[LogEvent]) -> tuple[int, ...]:
    """The ranks that enqueued the fewest collectives of their process group: the others wait for them."""
    behind = _behind(events)
    return behind[0] if behind else ()


def _tell_memory(events: Sequence[LogEvent]) -> tuple[str, ...]:
    reported = _memory(events)
    if "tried" not in reported:
        return ()
    where = f" on GPU {reported['gpu']}" if "gpu" in reported else ""
    parts = [f"{reported['tried']} asked for{where}"]
    if "total" in reported and "free" in reported:
        parts.append(f"{reported['free']} of {reported['total']} free")
    if "process" in reported:
        parts.append(f"{reported['process']} held by this process")
    if "allocated" in reported:
        parts.append(f"{reported['allocated']} of it in tensors")
    if "reserved" in reported:
        parts.append(f"{reported['reserved']} reserved by PyTorch but unallocated")
    if "other" in reported:
        parts.append(f"{reported['other']} held by process {reported.get('other_pid', '?')}")
    return (", ".join(parts),)


def _memory(events: Sequence[LogEvent]) -> dict[str, str]:
    """The numbers of the first out-of-memory message, which may be broken into two lines; old names under the new ones."""
    reported: dict[str, str] = {}
    for event in events[:2]:
        if event is not events[0] and event.path != events[0].path:
            continue
        for name, value in event.groups.items():
            reported.setdefault(name.removesuffix("_old"), value)
    return reported


def _memory_steps(reported: Mapping[str, str]) -> tuple[str, ...]:
    tried, total, free = (_bytes(reported.get(name)) for name in ("tried", "total", "free"))
    process, reserved = _bytes(reported.get("process")), _bytes(reported.get("reserved"))
    found = []
    if tried is not None and total is not None and tried > total:
        found.append(f"{reported['tried']} is more than the whole GPU: one tensor is far too large; look at its shape")
    if None not in (tried, total, reserved) and reserved >= max(tried, _PART * total):  # type: ignore[operator, type-var]
        found.append(
            f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # {reported['reserved']} lie unused in pieces: fragmentation"
        )
    if total is not None and free is not None and process is not None:
        others = total - free - process
        if others > _PART * total:
            found.append(f"nvidia-smi   # other processes hold about {others / (1 << 30):.1f} GiB of that GPU")
    return tuple(found)


def _bytes(text: str | None) -> float | None:
    number, _, unit = (text or "").partition(" ")
    return float(number) * _UNITS[unit] if unit in _UNITS else None


def _tell_collective(events: Sequence[LogEvent]) -> tuple[str, ...]:
    reported = []
    first = next((event.groups for event in events if event.groups.get("op")), None)
    if first is not None:
        number = f" number {first['seq']}" if "seq" in first else ""
        waited = f" waited {span(int(first['ran_ms']) / 1000)}" if "ran_ms" in first else " was not completed"
        limit = f" of {span(int(first['timeout_ms']) / 1000)} allowed" if "timeout_ms" in first else ""
        reported.append(f"{first['op']}{number}{waited}{limit}")
    if (behind := _behind(events)) is not None:
        ranks, number_behind, number_ahead = behind
        reported.append(f"{named(ranks)} enqueued {number_behind} collectives, others {number_ahead}: they wait for it")
    late = next((event.groups["late"] for event in events if event.groups.get("late")), None)
    if late is not None:
        reported.append(f"did not reach the barrier: rank {late.strip(' ,')}")
    return tuple(reported)


def _behind(events: Sequence[LogEvent]) -> tuple[tuple[int, ...], int, int] | None:
    """(ranks, what they enqueued last, what the others did) in the first process group where ranks differ."""
    last: dict[str, dict[int, int]] = {}
    for event in events:
        enqueued = _first(event.groups, "enqueued", "enqueued2", "enqueued3")
        if enqueued is None or event.rank is None:
            continue
        group = _GROUP.search(event.text)
        last.setdefault(group.group(1) if group else "", {})[event.rank] = int(enqueued)
    for of_rank in last.values():
        least, most = min(of_rank.values()), max(of_rank.values())
        if least < most:
            return tuple(sorted(rank for rank, number in of_rank.items() if number == least)), least, most
    return None


def _first(groups: Mapping[str, str], *names: str) -> str | None:
    return next((groups[name] for name in names if name in groups), None)


def _tell_victims(events: Sequence[LogEvent]) -> tuple[str, ...]:
    reported = []
    for groups in (event.groups for event in events if event.groups.get("task")):
        size = f", {_gib(groups['rss_kb'])} resident" if "rss_kb" in groups else ""
        limit = (
            f"; limit of {groups.get('memcg', 'its cgroup')}: {_gib(groups['limit_kb'])}"
            if "limit_kb" in groups
            else ""
        )
        reported.append(f"killed: PID {groups['pid']} ({groups['task']}){size}{limit}")
    kills = next((event.groups["kills"] for event in events if event.groups.get("kills")), None)
    if kills is not None and not reported:
        reported.append(f"Slurm counted {kills} killed processes in the step")
    return tuple(reported[:3])


def _gib(kib: str) -> str:
    return f"{int(kib) / (1 << 20):.1f} GiB"


def _tell_exits(events: Sequence[LogEvent]) -> tuple[str, ...]:
    reported = []
    for event in events:
        groups = event.groups
        if groups.get("exit") and groups.get("first"):
            host = f" on {groups['host']}" if "host" in groups else ""
            reported.append(f"first to fail: rank {event.rank}{host}, exit code {groups['exit']}")
        elif groups.get("error_file"):
            reported.append(f"error file of rank {event.rank}: {groups['error_file']}")
    return tuple(dict.fromkeys(reported))[:3]


_TELLERS: dict[str, Callable[[Sequence[LogEvent]], tuple[str, ...]]] = {
    "cuda-oom": _tell_memory,
    "host-oom-kill": _tell_victims,
    "nccl-timeout": _tell_collective,
    "rank-crash": _tell_exits,
}
