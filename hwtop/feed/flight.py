"""Flight recording: the last half hour of a watch, kept without being asked for: what happened before somebody looked."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hwtop.config import FlightPlace
from hwtop.feed.record import Recorder
from hwtop.model.snapshot import Snapshot
from hwtop.paths import state_folder

if TYPE_CHECKING:
    from hwtop.store.writer import Writer

KEEP_S = 1800.0
"""What is older goes."""
_MOST_BYTES = 24 << 20
"""In memory or in the file; half an hour of 8 ranks with 8 GPUs takes a quarter of it. Of more ranks less is kept."""
_MOST_FILES = 5
"""On disk, of this watch and those before."""


class Flight:
    """Of one watch. `store` belongs to the feed: it never blocks and never raises."""

    def __init__(self, kept: FlightPlace, target_pid: int | None, environ: Mapping[str, str] = os.environ) -> None:
        """Nothing is kept without a job."""
        self._open = None if kept == "off" or target_pid is None else partial(_opened, kept, target_pid, environ)
        self._recorder: Recorder | None = None

    def store(self, snapshot: Snapshot) -> None:
        """What was read next."""
        if self._open is not None:
            self._recorder = self._recorder or Recorder(self._open)
            self._recorder.put(snapshot)

    def snapshots(self, newest_s: float = KEEP_S) -> Sequence[Snapshot]:
        """What is kept of the last `newest_s` seconds, oldest first. May take a second or two; from any thread."""
        rows = self._recorder.rows() if self._recorder is not None else []
        if not rows:
            return ()
        from hwtop.store.reader import of_rows

        every = list(of_rows(rows))
        return [each for each in every if every[-1].at_s - each.at_s <= newest_s]

    def close(self) -> None:
        """End it, without waiting; what is on disk stays."""
        if self._recorder is not None:
            self._recorder.end()


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Of flight recordings on disk, whether it exists or not."""
    return state_folder(environ) / "flight"


def _opened(kept: FlightPlace, target_pid: int, environ: Mapping[str, str]) -> Writer:
    from hwtop.store.writer import Writer

    place = None
    if kept == "disk":
        folder(environ).mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune(environ)
        place = folder(environ) / f"{target_pid}-{time.strftime('%Y%m%d-%H%M%S')}.hwtop"
    return Writer(place, most_bytes=_MOST_BYTES, keep_s=KEEP_S)


def _prune(environ: Mapping[str, str]) -> None:
    """Make room for one more; the oldest go."""
    places = sorted(folder(environ).glob("*.hwtop"), key=lambda place: -place.stat().st_mtime)
    for place in places[_MOST_FILES - 1 :]:
        for part in (place, Path(f"{place}-wal"), Path(f"{place}-shm")):
            with contextlib.suppress(OSError):
                part.unlink()
