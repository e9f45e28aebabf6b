"""Recording: what a source reads is also stored, in a thread of its own, since a disk may block for ever."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hwtop.errors import CannotError, HwtopError, internal_error
from hwtop.model.snapshot import Snapshot

if TYPE_CHECKING:
    from hwtop.store.writer import Writer

_MOST_FILE_BYTES = 1 << 30
"""Of a file whose size nobody has chosen: three days of 8 ranks with 8 GPUs."""
Changed = Callable[[str, bool], None]
"""Told in words what came of a recording, and whether one goes on; from any thread."""
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
        except Exception as error:  # the feed goes on
            self.error = CannotError(internal_error(error, "the recording"))
        self._writer.close()


class RecordingSwitch:
    """Starts and stops recordings of what one screen shows."""

    def __init__(self, folder: str = "~") -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._recorder: Recorder | None = None
        self._place = Path()
        self._changed: Changed | None = None

    def store(self, snapshot: Snapshot) -> None:
        """Record it, if a recording goes on. Does not block."""
        recorder = self._recorder
        if recorder is None:
            return
        recorder.put(snapshot)
        if recorder.error is not None and self._changed is not None:
            self._recorder = None
            self._changed(str(recorder.error), False)

    def toggle(self, name: str, changed: Changed) -> None:
        """Start a recording in the file NAME.hwtop, or end the one that goes on. Does not block; `changed` is told what came of it."""
        self._changed = changed
        work = partial(self._begin, name) if self._recorder is None else self.close
        threading.Thread(target=work, name="hwtop-recording", daemon=True).start()

    def close(self) -> None:
        """End the recording that goes on; takes some seconds at most."""
        with self._lock:
            recorder, self._recorder = self._recorder, None
        if recorder is not None and self._changed is not None:
            recorder.close()
            self._changed(f"recorded {self._place}", False)

    def _begin(self, name: str) -> None:
        from hwtop.store.writer import Writer

        assert self._changed is not None
        try:
            with self._lock:
                if self._recorder is not None:  # the key was pressed twice
                    return
                self._place = Path(self._folder).expanduser() / f"{name}.hwtop"
                self._recorder = Recorder(Writer(self._place, most_bytes=_MOST_FILE_BYTES))
        except (HwtopError, RuntimeError) as error:  # RuntimeError: a user without a home
            self._changed(str(error), False)
        else:
            self._changed(f"recording into {self._place}", True)
