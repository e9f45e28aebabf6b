"""The live source on this machine."""

from __future__ import annotations

import queue
import threading

from hwtop.feed.live import LiveSource
from hwtop.model.snapshot import Snapshot

_FIRST_TICKS = 4
"""They come quickly whatever the interval; the wait after them is a whole one."""


def test_a_shorter_interval_ends_the_wait_that_is_under_way() -> None:
    source = LiveSource(target_pid=None, interval_s=600)
    taken: queue.Queue[Snapshot] = queue.Queue()

    def take() -> None:
        for snapshot in source:
            taken.put(snapshot)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    try:
        assert {taken.get(timeout=60).interval_s for _ in range(_FIRST_TICKS)} == {600}
        source.interval_s = 0.5
        assert taken.get(timeout=60).interval_s == 0.5
    finally:
        source.close()
    thread.join(30)
    assert not thread.is_alive()
