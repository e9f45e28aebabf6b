"""Recording: what a source reads is also stored, in a thread of its own, since a disk may block for ever."""

from __future__ import annotations

import queue
import threading

from hwtop.errors import CannotError
from hwtop.model.snapshot import Snapshot
from hwtop.store.writer import Writer

_MOST_WAITING = 60
"""Snapshots that wait for the disk; later ones are left out until there is room."""
_CLOSE_S = 5.0
"""How long the last ones may take."""


class Recorder:
    """Stores Snapshots. `put` and `error` may be used from any thread, and never block."""

    def __init__(self, writer: Writer) -> None:
        self.error: CannotError | None = None
        """Why nothing is stored any more."""
        self.left_out = 0
        """Snapshots for which the disk was too slow."""
        self._writer = writer
        self._waiting: queue.Queue[Snapshot | None] = queue.Queue(_MOST_WAITING + 1)
        self._thread = threading.Thread(target=self._work, name="hwtop-record", daemon=True)
        self._thread.start()

    def put(self, snapshot: Snapshot) -> None:
        """Store this one next."""
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put_nowait(snapshot)
        else:
            self.left_out += 1

    def close(self) -> None:
        """Store what waits, and close the file. Returns after some seconds also where the disk does not answer."""
        self._waiting.put_nowait(None)
        self._thread.join(_CLOSE_S)

    def _work(self) -> None:
        try:
            while (snapshot := self._waiting.get()) is not None:
                self._writer.add(snapshot)
        except CannotError as error:
            self.error = error
        self._writer.close()
