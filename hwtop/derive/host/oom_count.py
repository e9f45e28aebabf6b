"""OOM kills as the kernel counts them: for those who may not read its log.

The counters tell how many, not whom. `oom_kill` of memory.events (cgroup v2) or memory.oom_control (v1) counts in the job's own
cgroup, that of /proc/vmstat on the whole machine; a rank that died of SIGKILL at the same time was the victim.
"""

from __future__ import annotations

import signal
from collections import deque

from msgspec import Struct

from hwtop.job.kernel.event import NOTICED_S
from hwtop.job.rank_set import named
from hwtop.job.size import size
from hwtop.model.job import Job
from hwtop.model.reported.log import LogEvent
from hwtop.model.snapshot import Snapshot

_KEPT = 8


class _Rise(Struct, frozen=True, kw_only=True):
    """A counter has grown."""

    at_s: float
    kills: int
    cgroup: str | None
    """None: of the machine."""
    limit_bytes: int | None = None


class OomCounter:
    """Takes each snapshot in order."""

    def __init__(self) -> None:
        self._last: dict[str | None, int] = {}
        self._rises: deque[_Rise] = deque(maxlen=_KEPT)
        self._died: dict[int, float] = {}

    def advance(self, snapshot: Snapshot) -> None:
        """Compare the counters with those of before."""
        cgroup, memory = snapshot.cgroup, snapshot.memory
        if cgroup is not None:
            self._count(snapshot.at_s, cgroup.oom_kills, cgroup.path, cgroup.mem_limit_bytes)
        if memory is not None:
            self._count(snapshot.at_s, memory.oom_kills, None, None)

    def events(self, job: Job, at_s: float) -> list[LogEvent]:
        """What the counters tell of the job. The machine's own counts other people's kills too: it needs a dead rank."""
        for rank in job.ranks:
            if not rank.is_alive and rank.exit_code in (-signal.SIGKILL, None):
                self._died.setdefault(rank.pid, at_s)
        found: list[LogEvent] = []
        reported: set[int] = set()
        for rise in sorted(self._rises, key=lambda rise: (rise.at_s, rise.cgroup is None)):
            dead = tuple(
                rank.rank
                for rank in job.ranks
                if rank.rank not in reported and abs(self._died.get(rank.pid, -1e9) - rise.at_s) <= NOTICED_S
            )
            if dead or rise.cgroup is not None:
                reported |= set(dead)
                found.append(_event(rise, dead))
        return found

    def _count(self, at_s: float, kills: int | None, cgroup: str | None, limit_bytes: int | None) -> None:
        if kills is None:
            return
        before = self._last.get(cgroup)
        self._last[cgroup] = kills
        if before is not None and kills > before:
            self._rises.append(_Rise(at_s=at_s, kills=kills - before, cgroup=cgroup, limit_bytes=limit_bytes))


def _event(rise: _Rise, dead: tuple[int, ...]) -> LogEvent:
    many = f"{rise.kills} process" + ("es" if rise.kills > 1 else "")
    limit = f" (limit {size(rise.limit_bytes)})" if rise.limit_bytes else ""
    where = f"in memory cgroup {rise.cgroup}{limit}" if rise.cgroup is not None else "on this machine"
    victims = f"; {named(dead)} died at the same time" if dead else ""
    return LogEvent(
        pattern="host-oom-kill",
        severity="critical" if dead else "warning",
        role="root",
        path="memory.events" if rise.cgroup is not None else "/proc/vmstat",
        line_no=None,
        text=f"oom_kill has increased by {rise.kills}",
        at_s=rise.at_s,
        is_past=False,
        explanation=f"The OOM killer killed {many} {where}{victims}.",
        rank=dead[0] if len(dead) == 1 else None,
        groups={"memcg": rise.cgroup} if rise.cgroup is not None else {},
    )
