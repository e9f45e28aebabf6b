"""What the calls into NVML cost, by function. Wall time in the thread that reads, so a lock that is waited for counts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from hwtop.model.gpu.device import CallCost


class CallLedger:
    """Written by one thread, read by any."""

    def __init__(self) -> None:
        self._spent: dict[str, tuple[int, float, float]] = {}
        """Function -> calls, seconds in total, seconds of the longest."""

    def note(self, function: str, took_s: float) -> None:
        """A call has returned."""
        calls, total_s, longest_s = self._spent.get(function, (0, 0.0, 0.0))
        self._spent[function] = (calls + 1, total_s + took_s, max(longest_s, took_s))

    def entries(self) -> list[tuple[str, tuple[int, float, float]]]:
        """What was noted so far; the copy is one step, so that the writer may go on."""
        return list(self._spent.items())


def timed(ledger: CallLedger, lib: Any, function: str, *args: Any) -> Any:
    """Call a function of pynvml by its name and note what it cost, whatever comes of it."""
    started_s = time.perf_counter()
    try:
        return getattr(lib, function)(*args)
    finally:
        ledger.note(function, time.perf_counter() - started_s)


def call_costs(ledgers: Iterable[CallLedger]) -> tuple[CallCost, ...]:
    """All ledgers together, the most expensive in total first."""
    spent: dict[str, tuple[int, float, float]] = {}
    for ledger in ledgers:
        for function, (calls, total_s, longest_s) in ledger.entries():
            before = spent.get(function, (0, 0.0, 0.0))
            spent[function] = (before[0] + calls, before[1] + total_s, max(before[2], longest_s))
    by_total = sorted(spent.items(), key=lambda item: (-item[1][1], item[0]))
    return tuple(
        CallCost(function=function, calls=calls, mean_ms=total_s / calls * 1e3, max_ms=longest_s * 1e3)
        for function, (calls, total_s, longest_s) in by_total
    )
