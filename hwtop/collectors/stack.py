"""Python stacks of the job's processes, sampled by py-spy within a budget."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from hwtop.collectors.pyspy import PySpy
from hwtop.collectors.stack_schedule import StackSchedule
from hwtop.errors import CannotError
from hwtop.model.aim import Aim
from hwtop.model.stack import StackDump, StackReading

READ_DEADLINE_S = 0.25
"""A read waits at most so long, and only for the first look at new processes."""
_LANES = 2
"""Threads that look; one may hang on a process that does not answer while the other goes on."""


class StackSource:
    """Fills `Snapshot.stacks`. The looking is done by threads of its own; a read hands over what they have found.

    So a py-spy that hangs holds up no tick, and looks fall at random times, not always at the start of a tick.
    """

    name = "stacks"
    every_s = 0.0

    def __init__(
        self,
        *,
        budget_pct: float = 1.0,
        command: Sequence[str] | None = None,
        now: Callable[[], float] = time.monotonic,
        proc: str = "/proc",
        max_per_read: int = 64,
        dump_deadline_s: float = 5.0,
    ) -> None:
        """`budget_pct` is the share of one core that looks may take in all (see `StackSchedule`); `command` replaces py-spy;
        `max_per_read` bounds the dumps of one reading, the rest come with the next.
        """
        self._spy = PySpy(command, proc=proc, deadline_s=dump_deadline_s, now=now)
        self._now = now
        self._max_per_read = max_per_read
        self._schedule = StackSchedule(budget_pct, random.random)  # no secret: spacing only
        self._changed = threading.Condition()
        self._found: deque[StackDump] = deque(maxlen=4096)
        self._lanes: list[threading.Thread] = []
        self._is_closing = False

    def probe(self) -> str | None:
        """py-spy must be there."""
        return self._spy.probe()

    def aim(self, aim: Aim) -> None:
        """Take on the processes to look at."""
        with self._changed:
            self._schedule.want(aim.stack_pids, aim.focus_pid)
            self._changed.notify_all()

    def read(self) -> StackReading:
        """The dumps that have ended since the last read, each once; a failed one carries its error and advice."""
        self._start()
        with self._changed:
            self._changed.wait_for(lambda: not self._schedule.is_first_pass, timeout=READ_DEADLINE_S)
            count = min(len(self._found), self._max_per_read)
            dumps = tuple(self._found.popleft() for _ in range(count))
        return StackReading(at_s=self._now(), dumps=dumps)

    def close(self) -> None:
        """Let the threads end after the look they are at. Does not wait for them."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    def _start(self) -> None:
        while len(self._lanes) < _LANES and not self._is_closing:
            lane = threading.Thread(target=self._look_on, name=f"hwtop-stacks-{len(self._lanes)}", daemon=True)
            self._lanes.append(lane)
            lane.start()

    def _look_on(self) -> None:
        while True:
            with self._changed:
                pid = self._schedule.next(self._now())
                while pid is None and not self._is_closing:
                    self._changed.wait(self._schedule.wait_s(self._now()))
                    pid = self._schedule.next(self._now())
                if self._is_closing or pid is None:
                    return
            look = self._spy.look(pid)
            with self._changed:
                self._schedule.done(pid, self._now(), look.cpu_s, look.is_lasting)
                self._found.append(look.dump)
                self._changed.notify_all()


def dump_all(pids: Sequence[int], ends_s: float) -> tuple[StackDump, ...]:
    """One dump of each process; fewer when some have not answered by `ends_s` (monotonic seconds).

    Raises:
        CannotError: py-spy is not installed.
    """
    source = StackSource(max_per_read=len(pids))
    reason = source.probe()
    if reason is not None:
        raise CannotError(reason)
    source.aim(Aim(stack_pids=tuple(pids)))
    found: dict[int, StackDump] = {}
    while len(found) < len(set(pids)) and time.monotonic() < ends_s:
        for dump in source.read().dumps:
            found.setdefault(dump.pid, dump)
    source.close()
    return tuple(found.values())
