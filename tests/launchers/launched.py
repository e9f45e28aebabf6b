"""One started job, and what its own ranks say that they are."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from hwtop.collectors.process.source import ProcessSource
from hwtop.model.process import ProcessReading
from tests.training import TrainingJob, kill

SCRIPTS = Path(__file__).parent / "scripts"
BIN = Path(sys.executable).parent
DEADLINE_S = 600.0
"""For all jobs together, started at once on a small machine."""


class Launched:
    """A job below one process that this test started. Words of `command`: ROSTER, SCRIPTS/, PYTHON, BIN/ are filled in."""

    def __init__(
        self, command: Sequence[str], folder: Path, count: int = 2, env: Mapping[str, str] | None = None
    ) -> None:
        """`count` ranks write into the roster file."""
        folder.mkdir()
        self.folder = folder
        self._roster = folder / "roster"
        self._roster.touch()
        self._count = count
        filled = [fill(word, self._roster) for word in command]
        self._job = TrainingJob(filled, folder, {"OMP_NUM_THREADS": "1", **(env or {})}, "*.log")

    @property
    def pid(self) -> int:
        """Of what was started."""
        return self._job.launcher_pid

    def ranks(self) -> set[tuple[int, int]]:
        """(rank, PID) as the ranks themselves tell, once all have."""
        end_s = time.monotonic() + DEADLINE_S
        while len(reported := self.reported()) < self._count:
            if self._job.has_ended() or time.monotonic() > end_s:
                raise TimeoutError(f"{len(reported)} of {self._count} ranks came up; {self._job.text()[-3000:]}")
            time.sleep(0.1)
        return reported

    def reported(self) -> set[tuple[int, int]]:
        """(rank, PID) of those that have told so far."""
        lines = (line.split() for line in self._roster.read_text().splitlines())
        return {(int(rank), int(pid)) for rank, pid in lines}

    def reading(self) -> ProcessReading:
        """The job as hwtop reads it from the PID that was started."""
        return ProcessSource(self.pid).read()

    def stop(self) -> None:
        """End all of it, and wait until it is gone."""
        pids = self._job.pids() | {process.pid for process in self.reading().processes}
        for pid in pids - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)  # so that nobody starts anything anew
        for pid in pids - {os.getpid()}:
            kill(pid)
        self._job.stop()


def fill(word: str, roster: Path) -> str:
    """One word of a command line."""
    word = word.replace("ROSTER", str(roster)).replace("SCRIPTS/", f"{SCRIPTS}/")
    return word.replace("PYTHON", sys.executable).replace("BIN/", f"{BIN}/")
