"""The kernel's report of one OOM kill: several lines, one victim.

Formats of mm/oom_kill.c and mm/memcontrol.c: since Linux 4.19 "oom-kill:constraint=..." names limit, victim and cgroups in one
line; before that "Task in A killed as a result of limit of B" did. "memory: usage ..., limit ..." tells how large the limit is,
and "Killed process N (name) ..." closes the report.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from hwtop.lazy_regex import lazy_regex

_SUMMARY = lazy_regex(
    r"oom-kill:constraint=CONSTRAINT_(?P<constraint>\w+),.*?"
    r"(?:oom_memcg=(?P<limit>.*?),)?(?P<all>global_oom,)?task_memcg=(?P<victim>.*),task=(?P<task>.*),pid=(?P<pid>\d+),uid="
)
_OLD_SUMMARY = lazy_regex(r"Task in (?P<victim>/.*) killed as a result of limit of (?P<limit>/.*)$")
_USAGE = lazy_regex(r"memory: usage (?P<usage>\d+)kB, limit (?P<limit>\d+)kB")
_KILLED = lazy_regex(
    r"(?:(?P<where>Memory cgroup o|O)ut of memory(?: \([\w ]+\))?: )?Kill(?:ed)? process (?P<pid>\d+),?(?: UID \d+,)? \((?P<task>.*?)\)"
    r"(?P<score> score )?(?:.*?anon-rss:(?P<anon>\d+)kB)?(?:.*?shmem-rss:(?P<shared>\d+)kB)?"
)
LITERALS = ("oom-kill:constraint", "killed as a result of limit of", "kb, failcnt", "kill process ", "killed process ")
"""Lower case; every line of a report that tells something holds one of them."""
_UNLIMITED_KB = 1 << 50
"""Where no limit is set the kernel prints nearly 2^63 bytes."""
_REPORT_S = 5.0
"""Lines of one report come within milliseconds of each other; those of an older one belong to another kill."""


class OomKill(Struct, frozen=True, kw_only=True):
    """Who was killed, and what was full."""

    pid: int
    task: str
    """Its comm: 15 characters at most."""
    at_s: float
    text: str
    limit_cgroup: str | None = None
    """The cgroup whose limit was reached; None: the machine (or the NUMA nodes that the process may use) is full."""
    victim_cgroup: str | None = None
    limit_bytes: int | None = None
    anon_bytes: int | None = None
    """Memory of its own that the victim had."""
    shared_bytes: int | None = None
    """tmpfs and shared memory that it had mapped."""
    is_global: bool = True
    """The whole machine was full."""

    @property
    def resident_bytes(self) -> int:
        """What the victim had, where the kernel says it; else 0."""
        return (self.anon_bytes or 0) + (self.shared_bytes or 0)

    def groups(self) -> dict[str, str]:
        """For an event: who it was, how much it had, and the limit; what is not known is left out."""
        groups = {"pid": str(self.pid), "task": self.task}
        groups |= {"memcg": self.limit_cgroup} if self.limit_cgroup else {}
        groups |= {"limit_kb": str(self.limit_bytes // 1024)} if self.limit_bytes else {}
        return groups | ({"rss_kb": str(self.resident_bytes // 1024)} if self.resident_bytes else {})


class OomReports:
    """Takes the lines of the kernel's log in order."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._open_at_s = 0.0
        self._limit_bytes: int | None = None

    def add(self, text: str, at_s: float) -> OomKill | None:
        """The kill that this line completes, if it does."""
        if "emory" not in text and "ill" not in text:
            return None
        if at_s - self._open_at_s > _REPORT_S:
            self._open, self._limit_bytes = {}, None
        if (usage := _USAGE.search(text)) is not None:
            limit_kb = int(usage["limit"])
            self._limit_bytes = limit_kb * 1024 if limit_kb < _UNLIMITED_KB else None
            self._open_at_s = at_s
        elif (summary := _SUMMARY.search(text) or _OLD_SUMMARY.search(text)) is not None:
            self._open = {name: value for name, value in summary.groupdict().items() if value}
            self._open_at_s = at_s
        elif (killed := _KILLED.search(text)) is not None and not killed["score"]:
            return self._close(killed, text, at_s)
        return None

    def _close(self, killed: re.Match[str], text: str, at_s: float) -> OomKill:
        known = self._open
        of_cgroup = killed["where"] == "Memory cgroup o" or (killed["where"] is None and "limit" in known)
        kill = OomKill(
            pid=int(killed["pid"]),
            task=killed["task"],
            at_s=at_s,
            text=text,
            victim_cgroup=known.get("victim"),
            anon_bytes=_bytes(killed["anon"]),
            shared_bytes=_bytes(killed["shared"]),
            is_global=not of_cgroup and known.get("constraint", "NONE") == "NONE",
        )
        if of_cgroup:
            # several victims of one report (memory.oom.group) share its summary
            kill = replace(kill, limit_cgroup=known.get("limit"), limit_bytes=self._limit_bytes)
        return kill


def _bytes(kb: str | None) -> int | None:
    return None if kb is None else int(kb) * 1024
