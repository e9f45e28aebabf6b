"""Which rank another one waits for, as the kernel shows it: by who holds the other end of the pipe or connection. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hwtop.model.process import ProcessInfo

_MOST_STEPS = 4
"""Between two ranks there may be a server, or the process that started them. Engineering default."""


def awaited_rank(process: ProcessInfo, by_pid: Mapping[int, ProcessInfo], rank_of: Mapping[int, int]) -> int | None:
    """The rank that holds the other end, or that the process which holds it waits for in its turn; None where it runs, where several
    processes hold that end, and where the last one waits for no rank. `rank_of`: rank by PID.
    """
    own, seen = rank_of.get(process.pid), {process.pid}
    current: ProcessInfo | None = process
    for _ in range(_MOST_STEPS):
        peers = current.call.peer_pids if current is not None and current.call is not None else None
        if peers is None or len(peers) != 1 or peers[0] in seen:
            return None
        rank = rank_of.get(peers[0])
        if rank is not None and rank != own:
            return rank
        seen.add(peers[0])
        current = by_pid.get(peers[0])
    return None
