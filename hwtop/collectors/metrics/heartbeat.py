"""Heartbeats of the job's processes: the pages that `hwtop.heartbeat` keeps in shared memory."""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from hwtop.collectors.batch import Batch
from hwtop.heartbeat import (
    HEAD_BYTES,
    MAGIC,
    NAME_BYTES,
    NAMES,
    NAMES_AT,
    PAGE_BYTES,
    PLACE_BYTES,
    PLACE_FORMAT,
    PLACES,
    REFUSED_AT,
)
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.heartbeat import Beat, HeartbeatReading, Pulse
from hwtop.model.reported.metrics import MetricsTarget

_TOGETHER_S = 0.1
_MISSED_S = 5.0
"""Where a process has no page, it is searched again after this time."""
_PLACE = struct.Struct(PLACE_FORMAT)
_HEAD = struct.Struct("@qqq")
_HAS_STEP, _HAS_LOSS = 1, 2


class Page(NamedTuple):
    """What a page holds."""

    pid: int
    """As the process sees it."""
    start_ticks: int
    names: tuple[str, ...]
    refused: tuple[str, ...]
    beats: tuple[Beat, ...]
    """Oldest first; those that were being written are left out."""


class HeartbeatSource:
    """Fills `Snapshot.heartbeat`: what is new since the last reading, of each process that has a page."""

    name = "heartbeat"
    every_s = 0.0

    def __init__(self, *, now: Callable[[], float] = time.monotonic, proc: str = "/proc") -> None:
        self._now = now
        self._proc = proc
        self._targets: dict[int, MetricsTarget] = {}
        self._places: dict[tuple[int, int], str] = {}
        """(PID, start) -> path of its page."""
        self._missed_at_s: dict[tuple[int, int], float] = {}
        self._last: dict[tuple[int, int], int] = {}
        """Number of the newest beat that was reported."""
        self._read: dict[int, Page] = {}
        self._refusals: dict[int, str] = {}
        self._batch: Batch[int] = Batch("heartbeat", self._look, now)

    def probe(self) -> str | None:
        """Always able to run."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take the processes that may have one."""
        self._targets = {target.pid: target for target in plan.metrics}

    def close(self) -> None:
        """Nothing is held open."""

    def read(self) -> HeartbeatReading | None:
        """New beats; None while no job is known."""
        if not self._targets:
            return None
        at_s = self._now()
        self._read, self._refusals = {}, {}
        due = [pid for pid, target in self._targets.items() if self._is_due(target, at_s)]
        late = self._batch.run(due, _TOGETHER_S)
        read = dict(self._read)
        pulses = [self._pulse(self._targets[pid], page) for pid, page in read.items() if pid in self._targets]
        reasons = {**self._refusals, **late}
        missing = {f"PID {pid}": reason for pid, reason in reasons.items()}
        return HeartbeatReading(at_s=at_s, pulses=tuple(pulses), missing=missing)

    def _is_due(self, target: MetricsTarget, at_s: float) -> bool:
        missed_s = self._missed_at_s.get(_key(target))
        return missed_s is None or at_s - missed_s >= _MISSED_S

    def _pulse(self, target: MetricsTarget, page: Page) -> Pulse:
        key = _key(target)
        last = self._last.get(key)
        beats = tuple(beat for beat in page.beats if last is None or beat.number > last)
        count = max((beat.number for beat in page.beats), default=last or 0)
        self._last[key] = count
        return Pulse(
            pid=target.pid,
            rank=target.rank,
            beats=beats,
            count=count,
            refused=page.refused,
            is_first=last is None,
        )

    def _look(self, pid: int) -> None:
        """In a thread that may be abandoned. Never raises."""
        target = self._targets.get(pid)
        if target is None:
            return
        key = _key(target)
        path = self._places.get(key)
        for each in (path,) if path is not None else self._candidates(target):
            try:
                page = read_page(each, target)
            except FileNotFoundError:
                continue
            except PermissionError:
                self._refusals[pid] = "no permission to read its heartbeat: run hwtop as the user who owns it"
                return
            except (OSError, ValueError) as error:
                self._refusals[pid] = f"cannot read its heartbeat: {error}"
                return
            self._places[key], self._read[pid] = each, page
            self._missed_at_s.pop(key, None)
            return
        self._places.pop(key, None)
        self._missed_at_s[key] = self._now()

    def _candidates(self, target: MetricsTarget) -> list[str]:
        """Where its page would be: its own shared memory first, which may be a container's."""
        namespace = self._namespace(target.pid)
        name = f"hwtop-{namespace}-{target.own_pid}"
        folders = ("/dev/shm", *(() if target.uid is None else (f"/run/user/{target.uid}",)))
        root = f"{self._proc}/{target.pid}/root"
        return [f"{before}{folder}/{name}" for folder in folders for before in (root, "")]

    def _namespace(self, pid: int) -> str:
        for each in (str(pid), "self"):
            with suppress(OSError):
                return os.readlink(f"{self._proc}/{each}/ns/pid").strip("pid:[]")
        return "0"


def read_page(path: str, target: MetricsTarget) -> Page:
    """The page at `path`, if it is this process's.

    Raises:
        OSError: it cannot be read, or is not there (which a page of an earlier process of that PID counts as).
        ValueError: it is no such page.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        owner = os.geteuid() if target.uid is None else target.uid
        if not stat.S_ISREG(status.st_mode) or status.st_uid != owner:
            raise ValueError("the file is not the user's own")
        first, second = os.pread(fd, PAGE_BYTES, 0), os.pread(fd, PAGE_BYTES, 0)
    finally:
        os.close(fd)
    if not any(second[: len(MAGIC)]):
        raise FileNotFoundError(path)  # it is being made
    page = parse_page(first, second)
    if page.start_ticks not in (0, target.start_ticks) or page.pid != target.own_pid:
        raise FileNotFoundError(path)
    return page


def parse_page(first: bytes, second: bytes) -> Page:
    """What two readings of a page have in common: a place that was being written in one of them differs.

    Raises:
        ValueError: it is no page of this version.
    """
    if len(second) < PAGE_BYTES or len(first) != len(second) or not second.startswith(MAGIC):
        raise ValueError("no page of this version of hwtop: is the copy of heartbeat.py an old one?")
    pid, start_ticks, count = _HEAD.unpack_from(second, 16)
    names = _names(second, NAMES_AT)[: max(0, min(count, NAMES))]
    beats = []
    for at in range(HEAD_BYTES, PAGE_BYTES, PLACE_BYTES):
        if first[at : at + PLACE_BYTES] == second[at : at + PLACE_BYTES]:
            number, ns, bits, step, loss, *values, again = _PLACE.unpack_from(second, at)
            if number == again and number > 0:
                reported = {name: values[index] for index, name in enumerate(names) if bits & 4 << index}
                if bits & _HAS_LOSS:
                    reported["loss"] = loss
                beats.append(
                    Beat(number=number, at_s=ns / 1e9, step=step if bits & _HAS_STEP else None, values=reported)
                )
    beats.sort(key=lambda beat: beat.number)
    refused = tuple(name for name in _names(second, REFUSED_AT) if name)
    return Page(pid, start_ticks, names, refused, tuple(beats[-PLACES:]))


def _names(page: bytes, start: int) -> tuple[str, ...]:
    cells = [page[at : at + NAME_BYTES] for at in range(start, start + NAMES * NAME_BYTES, NAME_BYTES)]
    texts = [cell.split(b"\0", 1)[0].decode("utf-8", "replace") for cell in cells]
    return tuple("".join(letter for letter in text if letter.isprintable()) for text in texts)


def _key(target: MetricsTarget) -> tuple[int, int]:
    return target.pid, target.start_ticks
