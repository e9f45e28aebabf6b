"""Samples of several processes over one stretch of time, because the user asked for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from math import ceil

from hwtop.collectors.stacks.pyspy_record import WINDOW_S, PySpyRecord
from hwtop.collectors.stacks.source import dump_all
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.stack import StackProfile

RATE_PER_S = 50
"""Takes some 1.5 % of a core for each process while it lasts: asked for by the user, so outside of the budget of the watch."""
_DUMPS_S = 5.0


def record_all(pids: Sequence[int], seconds: float) -> dict[int, tuple[StackProfile, ...]]:
    """Windows of samples, end to end, of each process at the same time. One that cannot be read, or has ended, has a last
    window with the error.

    In short windows, so that no py-spy goes on for long when hwtop is killed meanwhile.
    """
    names = ShortNames()
    names.learn(dump_all(pids, ends_s=time.monotonic() + _DUMPS_S))
    record = PySpyRecord(names=names)
    found: dict[int, list[StackProfile]] = {pid: [] for pid in dict.fromkeys(pids)}
    ends_s = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_record, args=(record, pid, ends_s, taken), daemon=True) for pid, taken in found.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()  # each window has its own deadline
    return {pid: tuple(taken) for pid, taken in found.items()}


def _record(record: PySpyRecord, pid: int, ends_s: float, taken: list[StackProfile]) -> None:
    while (left_s := ends_s - time.monotonic()) > 0:
        window_s = min(WINDOW_S, ceil(left_s))
        taken.append(record.take(pid, window_s, RATE_PER_S).profile)
        if taken[-1].error is not None:
            return
