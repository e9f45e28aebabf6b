"""The attach ladder: ways to see the Python stacks of a process, tried in turn until one gives them.

py-spy, then py-spy with the rights of root where the user allows `sudo -n`, then torch's debug server. The two
that only read the process's memory come first: a request to the server runs code in the job, needs its interpreter lock and
reports less (no thread states). What /proc shows of threads is always available and needs no step here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hwtop.collectors.process.sudo import Sudo, not_roots
from hwtop.collectors.process.target_state import read_state
from hwtop.collectors.stacks.pyspy import DEADLINE_S, DumpResult, PySpy, StackReader, find_pyspy
from hwtop.collectors.stacks.pyspy_errors import Explained
from hwtop.collectors.stacks.server_look import ServerLook
from hwtop.model.stack import Refusal, Rung, StackDump

_STAYS_S = 60.0
"""A process that was sampled on a lower step is sampled there for so long before py-spy is tried again."""


class SudoPySpy:
    """py-spy as root."""

    def __init__(
        self, command: Sequence[str] | None, sudo: Sudo, *, proc: str, deadline_s: float, now: Callable[[], float]
    ) -> None:
        self._sudo = sudo
        self._command = command
        self._proc = proc
        self._deadline_s = deadline_s
        self._now = now
        self._spy: PySpy | None = None

    def look(self, pid: int) -> DumpResult:
        """As PySpy."""
        spy = self._sudo.refusal() or self._opened()
        if isinstance(spy, Explained):
            dump = StackDump(pid=pid, at_s=self._now(), error=spy.error, advice=spy.advice)
            return DumpResult(dump, 0.0, spy)
        found = spy.look(pid)
        if found.failure is not None and found.failure.cause == "no-sudo":
            self._sudo.refused(found.failure)
        return found

    def _opened(self) -> PySpy | Explained:
        """With a program that root may run, looked for the first time that sudo is open; or why there is none."""
        if self._spy is not None:
            return self._spy
        own, *arguments = self._command if self._command is not None else [find_pyspy() or "py-spy"]
        program = self._sudo.program(own)
        if program is None:
            return not_roots(own)
        prefix, deadline_s = self._sudo.prefix(self._deadline_s), self._deadline_s + 1.0
        self._spy = PySpy([program, *arguments], prefix=prefix, proc=self._proc, deadline_s=deadline_s, now=self._now)
        return self._spy


class _Footing(Struct, frozen=True):
    """The rung from which a process was seen last, when the first one was refused."""

    start_ticks: int
    rung: Rung
    refusals: tuple[Refusal, ...]
    until_s: float


class Ladder:
    """Looks at processes by whatever way is open. Safe to use from several threads at once."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        sudo: Sudo | None = None,
        proc: str = "/proc",
        deadline_s: float = DEADLINE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`command` replaces py-spy, as in PySpy."""
        self._rungs: dict[Rung, StackReader] = {"py-spy": PySpy(command, proc=proc, deadline_s=deadline_s, now=now)}
        sudo = sudo or Sudo()
        if sudo.would_help:
            self._rungs["sudo"] = SudoPySpy(command, sudo, proc=proc, deadline_s=deadline_s, now=now)
        self._rungs["debug-server"] = ServerLook(proc=proc, now=now)
        self._proc = proc
        self._now = now
        self._footings: dict[int, _Footing] = {}

    def look(self, pid: int) -> DumpResult:
        """The stacks of `pid` with the refusals met on the way, or the first rung's failure with all of them.

        Never raises for what the target does.
        """
        footing = self._footing(pid)
        cpu_s = 0.0
        if footing is not None:
            found = self._look(footing.rung, pid)
            if found.failure is None:
                return replace(found, dump=replace(found.dump, refusals=footing.refusals))
            cpu_s = found.cpu_s
        return self._climb(pid, cpu_s)

    def forget(self) -> None:
        """Start at the first rung again: the user has allowed another one."""
        self._footings.clear()

    def _climb(self, pid: int, cpu_s: float) -> DumpResult:
        first: DumpResult | None = None
        refusals: list[Refusal] = []
        for rung in self._rungs:
            if rung == "sudo" and first is not None and first.failure is not None and first.failure.cause != "denied":
                continue  # rights are not what is missing
            found = self._look(rung, pid)
            cpu_s += found.cpu_s
            if found.failure is None:
                self._stand(pid, rung, refusals)
                return replace(found, cpu_s=cpu_s, dump=replace(found.dump, refusals=tuple(refusals)))
            first = first or found
            if found.failure.cause == "no-target" or not found.failure.is_lasting:
                break
            refusals.append(_refusal(rung, pid, found.failure))
        assert first is not None
        return replace(first, cpu_s=cpu_s, dump=replace(first.dump, refusals=tuple(refusals)))

    def _look(self, rung: Rung, pid: int) -> DumpResult:
        found = self._rungs[rung].look(pid)
        return replace(found, dump=replace(found.dump, via=rung))

    def _footing(self, pid: int) -> _Footing | None:
        footing = self._footings.get(pid)
        if footing is None:
            return None
        state = read_state(pid, self._proc)
        if state is None or state.start_ticks != footing.start_ticks or self._now() >= footing.until_s:
            self._footings.pop(pid, None)
            return None
        return footing

    def _stand(self, pid: int, rung: Rung, refusals: Sequence[Refusal]) -> None:
        state = read_state(pid, self._proc) if refusals else None
        if state is not None:
            self._footings[pid] = _Footing(state.start_ticks, rung, tuple(refusals), self._now() + _STAYS_S)


def _refusal(rung: Rung, pid: int, why: Explained) -> Refusal:
    """Without the pid, so that what all ranks are refused for is one sentence."""
    reason = why.error.replace(f"pid {pid}", "the process")
    return Refusal(rung=rung, reason=reason, advice=why.advice, needs_consent=why.cause == "no-consent")
