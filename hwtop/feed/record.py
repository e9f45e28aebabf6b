"""Recording: what a source reads is also stored, in a thread of its own, since a disk may block for ever."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hwtop.errors import CannotError, HwtopError, internal_error
from hwtop.store.kind import MACHINE, Kind, Reading

if TYPE_CHECKING:
    from hwtop.store.schema import Row
    from hwtop.store.writer import Writer

_MOST_FILE_BYTES = 1 << 30
"""Of a file whose size nobody has chosen: three days of 8 ranks with 8 GPUs."""
Changed = Callable[[str, bool], None]
"""Told in words what came of a recording, and whether one goes on; from any thread."""
_MOST_WAITING = 60
"""Readings that wait for the disk; later ones are left out until there is room."""
_CLOSE_S = 5.0
"""How long the last ones may take."""


class Recorder:
    """Stores readings. `put` and `error` may be used from any thread, and never block."""

    def __init__(self, opened: Callable[[], Writer], earlier: Callable[[], Iterable[Reading]] = tuple) -> None:
        """`opened`: makes the writer, in the recorder's thread; it may raise what a writer raises. `earlier`: readings to store first."""
        self.error: HwtopError | None = None
        """Why nothing is stored any more."""
        self.left_out = 0
        """Readings for which the disk was too slow."""
        self._opened, self._earlier = opened, earlier
        self._waiting: queue.Queue[Reading | Callable[[Writer], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="hwtop-record", daemon=True)
        self._thread.start()

    def put(self, reading: Reading) -> None:
        """Store this one next."""
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put_nowait(reading)
        else:
            self.left_out += 1

    def rows(self) -> list[Row]:
        """What is stored when all that waits is; nothing where that takes longer than some seconds."""
        if not self._thread.is_alive():
            return []
        answer: queue.Queue[list[Row]] = queue.Queue()
        self._waiting.put_nowait(lambda writer: answer.put(writer.rows()))
        with contextlib.suppress(queue.Empty):
            return answer.get(timeout=_CLOSE_S)
        return []

    def end(self) -> None:
        """Store what waits, and close the file; does not wait for it."""
        self._waiting.put_nowait(None)

    def close(self) -> None:
        """The same, and waits; returns after some seconds also where the disk does not answer."""
        self.end()
        self._thread.join(_CLOSE_S)

    def _work(self) -> None:
        writer: Writer | None = None
        try:
            writer = self._opened()
            self._store(writer)
        except HwtopError as error:
            self.error = error
        except Exception as error:  # the feed goes on
            self.error = CannotError(internal_error(error, "the recording"))
        if writer is not None:
            writer.close()

    def _store(self, writer: Writer) -> None:
        newest_s = -math.inf
        for reading in self._earlier():
            writer.add(reading)
            newest_s = reading.at_s
        while (item := self._waiting.get()) is not None:
            if callable(item):
                item(writer)
            elif item.at_s > newest_s:  # it may be among the earlier ones
                writer.add(item)


@contextlib.contextmanager
def recorded(place: Path | None, report: Callable[[str], None]) -> Iterator[Callable[[Reading], None] | None]:
    """Where to put readings that go into a new file at `place`; None: nowhere. What is missing in it is reported at the end.

    Raises:
        HwtopError: the file cannot be created.
    """
    if place is None:
        yield None
        return
    from hwtop.store.writer import Writer

    writer = Writer(place, most_bytes=_MOST_FILE_BYTES)
    recorder = Recorder(lambda: writer)
    try:
        yield recorder.put
    finally:
        recorder.close()
        if recorder.error is not None:
            report(f"the recording {place} ends early: {recorder.error}")
        if recorder.left_out:
            report(f"{recorder.left_out} readings are missing in {place}: the disk was too slow")


class RecordingSwitch:
    """Starts and stops recordings of what one screen shows."""

    def __init__(
        self,
        folder: str = "~",
        earlier: Callable[[], Iterable[Reading]] = tuple,
        kind: Kind[Any] = MACHINE,
    ) -> None:
        """`earlier`: what a recording begins with: the minutes before the key. `kind`: of the readings."""
        self._folder, self._earlier, self._kind = folder, earlier, kind
        self._lock = threading.Lock()
        self._recorder: Recorder | None = None
        self._place = Path()
        self._changed: Changed | None = None

    def store(self, reading: Reading) -> None:
        """Record it, if a recording goes on. Does not block."""
        recorder = self._recorder
        if recorder is None:
            return
        recorder.put(reading)
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
                writer = Writer(self._place, kind=self._kind, most_bytes=_MOST_FILE_BYTES)
                self._recorder = Recorder(lambda: writer, self._earlier)
        except (HwtopError, RuntimeError) as error:  # RuntimeError: a user without a home
            self._changed(str(error), False)
        else:
            self._changed(f"recording into {self._place}", True)
