"""Python stacks of the job's processes, sampled by py-spy within a budget."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.collectors.process.sudo import Sudo, allow
from hwtop.collectors.process.target_state import read_state
from hwtop.collectors.stacks.attach import Ladder
from hwtop.collectors.stacks.pyspy_record import WINDOW_S, PySpyRecord
from hwtop.collectors.stacks.schedule import Order, StackSchedule
from hwtop.collectors.stacks.source_lines import SourceLines
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.plan import SamplingPlan
from hwtop.model.stack import StackDump, StackFrame, StackProfile, StackReading

READ_DEADLINE_S = 0.25
"""A read waits at most so long, and only for the first sample of new processes."""
_WHATEVER_IT_COSTS_PCT = 10_000.0
_SHORT_WINDOW_S = 2
_AMPLE_BUDGET_PCT = 2.0
"""From here on windows are shorter, so that there are more dumps among as many samples."""


class _Found(Struct, frozen=True):
    """What one order gave: the window ended right before the dump was taken."""

    dump: StackDump
    profile: StackProfile | None


class _Seen(Struct, frozen=True):
    """The same with what it took, in CPU seconds of the programs, and what the schedule must know."""

    found: _Found
    cpu_s: float
    is_lasting: bool
    has_samples: bool


class StackSource:
    """Fills `Snapshot.stacks`. The looking is done in threads of its own; a read hands over what they have found.

    So a py-spy that hangs holds up no tick, and looks fall at random times, not always at the start of a tick. Each look at a
    process is a window of many samples (cheap, but without OS states), closed by one dump, so that the newest dump is never
    older than the newest sample.
    """

    name = "stacks"
    every_s = 0.0

    def __init__(
        self,
        *,
        budget_pct: float = 1.0,
        has_windows: bool = True,
        command: Sequence[str] | None = None,
        sudo: Sudo | None = None,
        now: Callable[[], float] = time.monotonic,
        proc: str = "/proc",
        max_per_read: int = 64,
        dump_deadline_s: float = 5.0,
    ) -> None:
        """`budget_pct` is the share of one core that samples may take in total (see `StackSchedule`); without `has_windows` there
        are dumps only; `command` replaces py-spy; `max_per_read` bounds the dumps of one reading, the rest come with the next.
        """
        names = ShortNames()
        self._names = names
        self._ladder = Ladder(command, sudo=sudo, proc=proc, deadline_s=dump_deadline_s, now=now)
        self._record = PySpyRecord(command, names=names, proc=proc, now=now)
        self._lines = SourceLines(proc, now)
        self._now = now
        self._proc = proc
        self._max_per_read = max_per_read
        self._window_s = WINDOW_S if budget_pct < _AMPLE_BUDGET_PCT else _SHORT_WINDOW_S
        window_s = self._window_s if has_windows else None
        self._budget_pct = budget_pct
        self._schedule = StackSchedule(budget_pct, random.random, window_s=window_s)  # no secret: spacing only
        self._changed = threading.Condition()
        self._found: deque[_Found] = deque(maxlen=4096)
        self._seen: set[int] = set()
        self._focus: int | None = None
        self._foreman: threading.Thread | None = None
        self._is_closing = False

    def probe(self) -> str | None:
        """Always: a dump says for itself why it failed."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take on the processes to sample, and the consent to sample them as root."""
        threads = {pid: count for pid in plan.stack_pids if (count := _thread_count(pid, self._proc)) is not None}
        with self._changed:
            if plan.request is not None and plan.request.kind == "sudo" and allow():
                self._ladder.forget()
                self._schedule.retry()
            asked_pct = plan.stack_budget_pct
            self._schedule.set_budget(self._budget_pct if asked_pct is None else asked_pct)
            self._schedule.want(plan.stack_pids, plan.focus_pid, threads, plan.asleep_since_s)
            self._seen &= {*plan.stack_pids}
            self._focus = plan.focus_pid
            self._changed.notify_all()

    def read(self) -> StackReading:
        """What has been found since the last read, each once; a failed dump carries its error and advice."""
        self._start()
        with self._changed:
            self._changed.wait_for(lambda: not self._schedule.is_first_pass, timeout=READ_DEADLINE_S)
            found = [self._found.popleft() for _ in range(min(len(self._found), self._max_per_read))]
            focus = self._focus
        return StackReading(
            at_s=self._now(),
            dumps=tuple(each.dump for each in found),
            profiles=tuple(each.profile for each in found if each.profile is not None),
            focus_pid=focus,
        )

    def close(self) -> None:
        """End the windows that are open, and start nothing more. Does not wait."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._record.close()

    def _start(self) -> None:
        if self._foreman is None and not self._is_closing:
            self._foreman = threading.Thread(target=self._give_orders, name="hwtop-stacks", daemon=True)
            self._foreman.start()

    def _give_orders(self) -> None:
        counted_s = 0.0
        while True:
            with self._changed:
                order = self._schedule.next(self._now())
                while order is None and not self._is_closing:
                    self._changed.wait(self._schedule.wait_s(self._now()))
                    order = self._schedule.next(self._now())
                if self._is_closing or order is None:
                    return
            taken_s, counted_s = time.thread_time() - counted_s, time.thread_time()
            name = f"hwtop-look-{order.pid}"
            try:
                threading.Thread(target=self._carry_out, args=(order, taken_s), name=name, daemon=True).start()
            except RuntimeError:  # no more threads: one after another, then
                self._carry_out(order, taken_s)

    def _carry_out(self, order: Order, taken_s: float) -> None:
        """What hwtop's own threads take counts as well: `taken_s` to give the order, and this thread."""
        began_cpu_s = time.thread_time() - taken_s
        try:
            seen = self._look(order)
        except Exception as error:  # no memory, say: it is one look that failed, and the next one is due all the same
            reason = f"pid {order.pid} could not be read: {type(error).__name__}: {error}"
            dump = StackDump(pid=order.pid, at_s=self._now(), error=reason, advice="hwtop tries again")
            seen = _Seen(_Found(dump, None), 0.0, is_lasting=False, has_samples=False)
        cost_s = seen.cpu_s + time.thread_time() - began_cpu_s
        dump = seen.found.dump
        with self._changed:
            self._names.learn((dump,))
            self._schedule.done(order, self._now(), cost_s, is_lasting=seen.is_lasting, has_samples=seen.has_samples)
            if dump.error is None:
                self._seen.add(order.pid)
            if not self._is_closing and not self._has_ended(dump):
                self._found.append(seen.found)
            self._changed.notify_all()

    def _look(self, order: Order) -> _Seen:
        take = self._record.take(order.pid, self._window_s, order.rate_per_s) if order.has_window else None
        look = self._ladder.look(order.pid)
        dump = self._lines.dump_with_code(look.dump)
        profile = None if take is None or take.profile.error else self._with_code(take.profile)
        return _Seen(
            _Found(dump, profile),
            look.cpu_s + (take.cpu_s if take else 0.0),
            is_lasting=look.is_lasting,
            has_samples=dump.via == "py-spy" and (take is None or bool(take.profile.samples)),
        )

    def _with_code(self, profile: StackProfile) -> StackProfile:
        """Equal stacks stay one object."""
        known: dict[int, tuple[StackFrame, ...]] = {}
        for sample in profile.samples:
            if id(sample.frames) not in known:
                known[id(sample.frames)] = self._lines.with_code(sample.frames, profile.pid)
        return replace(
            profile, samples=tuple(replace(sample, frames=known[id(sample.frames)]) for sample in profile.samples)
        )

    def _has_ended(self, dump: StackDump) -> bool:
        """It failed because a known process has ended: the process table reports that, not a py-spy error."""
        if dump.error is None or dump.pid not in self._seen:
            return False
        state = read_state(dump.pid, self._proc)
        return state is None or state.state in ("Z", "X")


def _thread_count(pid: int, proc: str) -> int | None:
    """OS threads, from the number of links of the folder that holds them: cheap enough for hundreds of ranks a tick."""
    try:
        return os.stat(f"{proc}/{pid}/task").st_nlink - 2
    except OSError:
        return None


def dump_all(pids: Sequence[int], ends_s: float) -> tuple[StackDump, ...]:
    """One dump of each process, whatever it costs; fewer when some have not answered by `ends_s` (monotonic seconds)."""
    source = StackSource(budget_pct=_WHATEVER_IT_COSTS_PCT, has_windows=False, max_per_read=len(pids))
    source.set_plan(SamplingPlan(stack_pids=tuple(pids)))
    found: dict[int, StackDump] = {}
    while len(found) < len(set(pids)) and time.monotonic() < ends_s:
        for dump in source.read().dumps:
            found.setdefault(dump.pid, dump)
    source.close()
    return tuple(found.values())
