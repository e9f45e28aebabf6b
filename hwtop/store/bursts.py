"""Bursts: log lines and stacks, as a recording holds them: within a budget, and log lines with their secrets masked."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.job.log.private_key import PrivateKeys
from hwtop.job.secrets import MASK, masked_text
from hwtop.model.reported.log import LogLine, LogReading
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import StackReading
from hwtop.store.encoding import encoded

_LOG_CHARS = 1_000_000
"""Of log lines a minute: masking them takes 0.5 % of a core then. A usual job writes a twentieth."""
_STACK_BYTES = 6_000_000
"""Of stacks a minute, before compression. 8 ranks take a third."""


class Budget:
    """So much a minute, of which one minute's may be saved up."""

    def __init__(self, per_minute: int) -> None:
        self._most = self._left = float(per_minute)
        self._at_s: float | None = None

    def left(self, at_s: float) -> float:
        """At this time, on a clock that only goes forward."""
        if self._at_s is not None:
            self._left = min(self._most, self._left + (at_s - self._at_s) * self._most / 60.0)
        self._at_s = at_s
        return self._left

    def spend(self, amount: int) -> None:
        """It is used."""
        self._left -= amount


class Bursts:
    """Of one recording; given its Snapshots in order."""

    def __init__(self) -> None:
        self._logs, self._stacks = Budget(_LOG_CHARS), Budget(_STACK_BYTES)
        self._keys = PrivateKeys()

    def fitted(self, snapshot: Snapshot) -> Snapshot:
        """The Snapshot as it is stored."""
        logs, stacks = snapshot.logs, snapshot.stacks
        if logs is not None and logs.lines:
            snapshot = replace(snapshot, logs=self._fitted_logs(logs, snapshot.at_s))
        if stacks is not None and (stacks.dumps or stacks.profiles):
            snapshot = replace(snapshot, stacks=self._fitted_stacks(stacks, snapshot.at_s))
        return snapshot

    def _fitted_logs(self, logs: LogReading, at_s: float) -> LogReading:
        """The newest lines that fit; the others count as skipped."""
        left, kept = self._logs.left(at_s), len(logs.lines)
        for line in reversed(logs.lines):
            left -= len(line.text)
            if left < 0:
                break
            kept -= 1
        lines = logs.lines[kept:]
        self._logs.spend(sum(len(line.text) for line in lines))
        masked = tuple(map(self._masked, lines))
        return replace(logs, lines=masked, skipped_lines=logs.skipped_lines + kept)

    def _masked(self, line: LogLine) -> LogLine:
        return replace(line, text=MASK if self._keys.has(line.path, line.text) else masked_text(line.text))

    def _fitted_stacks(self, stacks: StackReading, at_s: float) -> StackReading:
        """All of them or none."""
        size = len(encoded(stacks))
        if size <= self._stacks.left(at_s):
            self._stacks.spend(size)
            return stacks
        reason = {"recording": "the recording holds no more stacks a minute"}
        return replace(stacks, dumps=(), profiles=(), missing={**stacks.missing, **reason})
