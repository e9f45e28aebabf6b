"""A device that is only pretended: it sleeps as long as it is busy, and keeps a book of that for a fake driver to repeat.

No job of its own: other jobs import it.
"""

from __future__ import annotations

import os
import queue
import threading
import time

SLICE_S = 0.05
BUSY_W, SPINNING_W = 640, 190


class Device:
    """The device of one rank. Its book is the file `device_RANK` in the working directory: seconds busy by now, watts while busy."""

    def __init__(self, rank: int | None = None) -> None:
        self._book = open(f"device_{os.environ.get('RANK', 0) if rank is None else rank}", "w")  # noqa: SIM115
        self._busy_s = 0.0
        self._note(BUSY_W)
        self._work: queue.SimpleQueue[tuple[float, threading.Lock]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="device", daemon=True).start()

    def launch(self, seconds: float) -> threading.Lock:
        """Be busy for so long, after all that was launched before; returns at once. Who acquires the lock waits for the end."""
        is_running = threading.Lock()
        is_running.acquire()
        self._work.put((seconds, is_running))
        return is_running

    def _serve(self) -> None:
        while True:
            seconds, is_running = self._work.get()
            self.run(seconds)
            is_running.release()

    def run(self, seconds: float, watts: int = BUSY_W) -> None:
        """Be busy for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            started = time.monotonic()
            time.sleep(min(left, SLICE_S))
            self._busy_s += time.monotonic() - started
            self._note(watts)

    def _note(self, watts: int) -> None:
        self._book.seek(0)
        self._book.write(f"{self._busy_s:012.3f} {watts:4d}\n")
        self._book.flush()
