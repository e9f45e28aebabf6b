"""The limits under which the target runs: its CPU and memory controllers, cgroup v2 or v1."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from hwtop.collectors.host.cgroup_files import Values, cpu_v1, cpu_v2, memory_v1, memory_v2, pids
from hwtop.collectors.host.mounts import Mount, parse_mountinfo
from hwtop.collectors.host.pressure import read_pressures
from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.cgroup import CgroupReading, CpuLimitReading
from hwtop.model.plan import SamplingPlan

_UNSEEN = "the target's cgroup cannot be seen from here: removed, or in another cgroup namespace"

_FIELDS = {
    "cpu": ("cpu_quota_cores", "nr_periods", "nr_throttled", "throttled_us"),
    "memory": ("mem_limit_bytes", "mem_high_bytes", "mem_used_bytes", "mem_cache_bytes", "oom_kills"),
}
_READERS = {("cpu", 1): cpu_v1, ("cpu", 2): cpu_v2, ("memory", 1): memory_v1, ("memory", 2): memory_v2}


_MEMBERS_EVERY_S = 5.0
_MOST_MEMBERS = 256
"""Of the job's processes whose own cgroups are looked for: one costs 15 µs."""


class _Group(NamedTuple):
    """Where one controller of the target is."""

    version: int
    path: str
    """As in /proc/PID/cgroup."""
    levels: tuple[str, ...]
    """Its folders, the target's own first, up to the top of the mount; () when it is outside of the mount."""


class CgroupSource:
    """Reads the cgroup of the target. Of a target that has ended, its last cgroup: there its oom_kill is counted."""

    name = "cgroup"
    every_s = 0.0

    def __init__(
        self,
        *,
        pid: int | None = None,
        proc: str = "/proc",
        sys: str = "/sys",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`pid` None is hwtop itself."""
        self._pid = pid
        self._proc = proc
        self._sys = sys
        self._now = now
        self._mounts: list[Mount] | None = None
        self._groups: dict[str, _Group] = {}
        self._pids: tuple[int, ...] = ()
        self._members: dict[tuple[int, tuple[str, ...]], list[int]] = {}
        """(version, folders) of a CPU controller that is not above the target's -> the job's processes in it."""
        self._members_at_s: float | None = None

    def probe(self) -> str | None:
        """Why there are no cgroups here, or None."""
        try:
            self._mounts = self._cgroup_mounts()
        except OSError as error:
            return reason_of(error)
        return None if self._mounts else "no cgroup file system is mounted"

    def read(self) -> CgroupReading:
        """The reading of now.

        Raises:
            OSError: /proc/PID/cgroup cannot be read and never could.
            ValueError: the target is in no cgroup that has a CPU or memory controller.
        """
        missing: dict[str, str] = {}
        at_s = self._now()
        self._find_groups()
        cpu, memory = self._groups.get("cpu"), self._groups.get("memory")
        main = memory or cpu
        if main is None:
            raise ValueError("no cgroup with a CPU or memory controller is mounted")
        values: Values = (
            pids(of_pids.levels, missing)
            if (of_pids := self._groups.get("pids")) is not None and of_pids.levels
            else {}
        )
        for name, group in (("cpu", cpu), ("memory", memory)):
            if group is None or not group.levels:
                reason = f"no {name} controller is mounted" if group is None else _UNSEEN
                missing.update(dict.fromkeys(_FIELDS[name], reason))
            else:
                values |= _READERS[name, group.version](group.levels, missing)
        psi = {}
        if main.version == 2 and main.levels:  # v1 has no pressure files
            psi = read_pressures({key: f"{main.levels[0]}/{key}.pressure" for key in ("cpu", "io", "memory")}, missing)
        others = self._others(at_s, cpu)
        known: dict[str, Any] = {**values, "psi": psi, "others": others, "missing": missing}
        return CgroupReading(at_s=at_s, version=main.version, path=main.path, **known)

    def set_plan(self, plan: SamplingPlan) -> None:
        """Follow the target, and the processes of the job that stacks are taken of."""
        self._pids = plan.stack_pids[:_MOST_MEMBERS]
        if plan.target_pid is not None and plan.target_pid != self._pid:
            self._pid = plan.target_pid
            self._groups = {}

    def close(self) -> None:
        """Nothing is kept open."""

    def _others(self, now_s: float, own: _Group | None) -> tuple[CpuLimitReading, ...]:
        if own is not None and (self._members_at_s is None or now_s - self._members_at_s >= _MEMBERS_EVERY_S):
            self._members, self._members_at_s = self._find_members(own), now_s
        limits = []
        for (version, levels), members in self._members.items():
            values: dict[str, Any] = {**_READERS["cpu", version](levels, {})}
            values.pop("throttled_us")
            if values["cpu_quota_cores"] is not None:
                limits.append(CpuLimitReading(path=levels[0], pids=tuple(members), **values))
        return tuple(limits)

    def _find_members(self, own: _Group) -> dict[tuple[int, tuple[str, ...]], list[int]]:
        """Only levels that are not the target's as well: what those limit is told of the whole job."""
        found: dict[tuple[int, tuple[str, ...]], list[int]] = {}
        for pid in self._pids:
            try:
                group = _locate("cpu", read_text(f"{self._proc}/{pid}/cgroup"), self._mounts or [])
            except OSError:
                continue
            levels = tuple(level for level in group.levels if level not in own.levels) if group else ()
            if group is not None and levels:
                found.setdefault((group.version, levels), []).append(pid)
        return found

    def _cgroup_mounts(self) -> list[Mount]:
        mounts = parse_mountinfo(read_text(f"{self._proc}/self/mountinfo"))
        return [
            mount._replace(mount_point=self._sys + mount.mount_point.removeprefix("/sys"))
            if mount.mount_point.startswith("/sys/")
            else mount
            for mount in mounts
            if mount.fs_type in ("cgroup", "cgroup2")
        ]

    def _find_groups(self) -> None:
        process = f"{self._proc}/{self._pid or 'self'}"
        try:
            text = read_text(f"{process}/cgroup")
            is_over = _has_ended(read_text(f"{process}/stat")) or " (deleted)\n" in text
        except OSError:
            if self._groups:
                return
            raise
        if is_over and self._groups:  # v1 already shows "/" for it
            return
        if self._mounts is None:
            self._mounts = self._cgroup_mounts()
        self._groups = {
            name: group
            for name in ("cpu", "memory", "pids")
            if (group := _locate(name, text, self._mounts)) is not None
        }


def _has_ended(stat: str) -> bool:
    """Zombie or dead; the state follows the last ")" of /proc/PID/stat, as the name may hold anything."""
    return stat.rpartition(")")[2].split()[:1] in (["Z"], ["X"])


def _locate(controller: str, text: str, mounts: list[Mount]) -> _Group | None:
    """Where `controller` of a process is, given its /proc/PID/cgroup ("ID:CONTROLLERS:PATH" a line).

    A controller that v1 has taken is not in v2, so v1 is looked at first (hybrid set-ups mount both). A v1 line
    without its mount is passed over.
    """
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        paths.update(dict.fromkeys(controllers.split(","), path))
    if controller in paths:
        for mount in mounts:
            if mount.fs_type == "cgroup" and controller in mount.super_options:
                return _Group(1, paths[controller], _levels(mount, paths[controller]))
    if "" in paths:
        for mount in mounts:
            if mount.fs_type == "cgroup2":
                return _Group(2, paths[""], _levels(mount, paths[""]))
    return None


def _levels(mount: Mount, path: str) -> tuple[str, ...]:
    """Folders from the cgroup at `path` up to the top of the mount."""
    if path.startswith("/..") or path.endswith(" (deleted)"):  # "/..": outside of hwtop's cgroup namespace
        return ()
    inside = path
    if mount.root != "/" and (path == mount.root or path.startswith(mount.root + "/")):
        inside = path.removeprefix(mount.root)  # a container without a cgroup namespace: host path, own part mounted
    parts = [part for part in inside.split("/") if part]
    if not os.path.isdir("/".join([mount.mount_point, *parts])):
        parts = []  # a container in which only its own cgroup is mounted, as if it were the top
    return tuple("/".join([mount.mount_point, *parts[:depth]]) for depth in range(len(parts), -1, -1))
