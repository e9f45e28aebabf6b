"""When torch itself ends a collective that does not come to its end. Pure.

Defaults: `kProcessGroupNCCLDefaultTimeout` (torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp) and `kProcessGroupDefaultTimeout`
(Backend.hpp). NCCL's watchdog ends the process; gloo raises in the call that waits, which ends most jobs as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hwtop.model.hang import Backend, CollectiveTimeout
from hwtop.model.rank import Rank
from hwtop.model.reported.flight import FlightDump
from hwtop.model.reported.log import LogEvent
from hwtop.seconds import span

DEFAULT_S: dict[Backend, float] = {"nccl": 600.0, "gloo": 1800.0}
"""Timeout of a process group where none was found. Source: torch.distributed, default_pg_nccl_timeout and
default_pg_timeout."""
_NAMES: dict[Backend, str] = {"nccl": "NCCL", "gloo": "gloo"}
_THREADS: tuple[tuple[str, Backend], ...] = (("pt_nccl", "nccl"), ("pt_gloo", "gloo"))
"""Start of the names that torch gives its threads (comm). A rank with both trains over NCCL."""
WORTH_TELLING_S = 10.0
"""A shorter wait is not reported. Engineering default."""


def backend_of(threads: Iterable[str]) -> Backend | None:
    """The backend that a process trains over, by the names of its threads; None where torch did not name any."""
    names = tuple(threads)
    return next((backend for start, backend in _THREADS if any(name.startswith(start) for name in names)), None)


def waited_s(rank: Rank) -> float:
    """How long the rank has waited in its collective, at least: as long as every look showed it there, or, where its log told
    a step before that, since one step after that."""
    if not rank.stack.is_waiting:
        return 0.0
    seen_s = rank.stall.same_stack_for_s or 0.0
    if seen_s < WORTH_TELLING_S or rank.progress.step_age_s is None:
        return seen_s
    usual_s = max(rank.log.interval_s or 0.0, rank.progress.step_time_s or 0.0)
    return max(seen_s, rank.progress.step_age_s - 2 * usual_s)


def timeout_of(
    ranks: Sequence[Rank],
    threads: Mapping[int, Iterable[str]],
    events: Sequence[LogEvent],
    dumps: Sequence[FlightDump] = (),
) -> CollectiveTimeout | None:
    """Of the rank that has waited longest; None while nobody waits for long, or where no backend is known.

    Args:
        ranks: all of them.
        threads: PID -> names of its threads.
        events: matches of log patterns; an earlier timeout of the same job shows its length.
        dumps: Flight Recorder dumps, which record it for each operation.
    """
    waiting = [(waited_s(rank), rank) for rank in ranks if rank.is_alive]
    seconds, rank = max(waiting, key=lambda each: each[0], default=(0.0, None))
    if rank is None or seconds < WORTH_TELLING_S:
        return None
    backend = backend_of(threads.get(rank.pid, ()))
    if backend is None:
        return None
    timeout_s, origin = (
        _recorded(rank, dumps) or _logged(events) or (DEFAULT_S[backend], f"{_NAMES[backend]}'s default")
    )
    return CollectiveTimeout(backend=backend, rank=rank.rank, timeout_s=timeout_s, origin=origin, waited_s=seconds)


def says(timeout: CollectiveTimeout | None) -> str | None:
    """ "time left to the timeout: at most 8 min 12 s (NCCL timeout 10 min, NCCL's default)"; None without a timeout."""
    if timeout is None:
        return None
    limit = f"{_NAMES[timeout.backend]} timeout {span(timeout.timeout_s)}, {timeout.origin}"
    if timeout.left_s == 0:
        return f"the timeout is exceeded: the job should abort soon ({limit})"
    return f"time left to the timeout: at most {span(timeout.left_s)} ({limit})"


def _recorded(rank: Rank, dumps: Sequence[FlightDump]) -> tuple[float, str] | None:
    for dump in dumps:
        if dump.rank == rank.rank:
            reported = [entry.timeout_s for entry in dump.entries if entry.timeout_s and entry.state != "completed"]
            if reported:
                return reported[-1], "from its Flight Recorder"
    return None


def _logged(events: Sequence[LogEvent]) -> tuple[float, str] | None:
    for event in reversed(events):
        reported = event.groups.get("timeout_ms") or event.groups.get("wait_ms")
        if event.pattern == "nccl-timeout" and reported:
            return int(reported) / 1000, "from its log"
    return None
