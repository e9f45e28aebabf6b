"""The Python interface: what the commands print as JSON, as objects with the same names. Never imports the screen.

Errors are `hwtop.errors.UsageError` (invalid input) and `hwtop.errors.CannotError` (not possible here).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple, final

from hwtop.bundle import opened
from hwtop.collectors.process.source import check_target
from hwtop.errors import UsageError
from hwtop.feed.feed import frames
from hwtop.feed.watch import check_job, last_frame, watch
from hwtop.fields.readings import readings
from hwtop.fields.registry import FIELDS, SUBJECTS
from hwtop.model.frame import Frame
from hwtop.model.snapshot import Snapshot
from hwtop.report.frame import json_report
from hwtop.report.frame.json_report import Diagnosis, SnapshotReport

_RATES_S = 1.0
"""Rates need two readings, this far apart."""


def snapshot(pid: int | None = None) -> SnapshotReport:
    """Read this machine once, and the job that process `pid` belongs to: the object of `hwtop snapshot --json`. Takes about a second.

    >>> import hwtop
    >>> machine = hwtop.snapshot()
    >>> machine.memory.total_bytes > 0
    True

    Raises:
        UsageError: there is no such process.
    """
    if pid is not None:
        check_target(pid)
    return json_report.snapshot(last_frame(watch(pid, seconds=_RATES_S)))


def diagnose(pid: int, seconds: float = 20.0) -> Diagnosis:
    """Watch the job that process `pid` belongs to for so long: the object of `hwtop diagnose --json`.

    >>> import hwtop
    >>> report = hwtop.diagnose(pid, seconds=2)
    >>> report.verdict.level in ("ok", "info", "unknown")
    True
    >>> [finding.symptom for finding in report.findings if finding.severity == "critical"]
    []

    Raises:
        UsageError: there is no such process.
        CannotError: it cannot be read.
    """
    check_target(pid)
    frame = last_frame(watch(pid, seconds=seconds))
    check_job(frame, pid)
    return json_report.diagnosis(frame)


class Series(NamedTuple):
    """One number over time. NumPy arrays where NumPy is installed, else lists."""

    times_s: Sequence[float]
    """Seconds after the epoch."""
    values: Sequence[float]


@final
class Recording:
    """A file that `hwtop record` or `hwtop bundle` has written.

    >>> import hwtop
    >>> recording = hwtop.Recording(path)
    >>> next(iter(recording)).host
    'gpu-node-07'
    >>> utilization = recording.series("gpu.util_pct")
    >>> sorted(utilization)
    ['0', '1', '2', '3', '4', '5', '6', '7']
    >>> len(utilization["3"].times_s) == len(utilization["3"].values)
    True
    >>> last = list(recording.frames())[-1]
    >>> last.derived.job.world_size
    8
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Open it.

        Raises:
            UsageError: there is no such file, or it is not a recording that this version can read.
        """
        self._recording = opened.recording(Path(path))

    def __iter__(self) -> Iterator[Snapshot]:
        """What was read, oldest first; parts that are damaged are left out."""
        return self._recording.snapshots()

    def frames(self) -> Iterator[Frame]:
        """What hwtop makes of each Snapshot now: rates (`derived`), `findings`, `verdict`. All rules run again."""
        return frames(self._recording.snapshots())

    def series(self, name: str) -> dict[str, Series]:
        """A number of `docs/fields.md` over the whole recording, such as "rank.step_time_s": number of the rank, GPU or core, or
        name of the device -> its values; of the host under "". Times at which it is unknown are left out.

        Raises:
            UsageError: there is no such number.
        """
        if name not in FIELDS or FIELDS[name].kind == "word":
            raise UsageError(f"{name!r} is not a number that hwtop knows: docs/fields.md lists them")
        subject = next(each for each in SUBJECTS if FIELDS[name] in each.fields)
        found: dict[str, tuple[list[float], list[float]]] = {}
        for frame in self.frames():
            for reading in readings(frame, (subject,)):
                if reading.field.id == name and not isinstance(reading.value, str):
                    times_s, values = found.setdefault(next(iter(reading.labels.values()), ""), ([], []))
                    times_s.append(frame.derived.time_s)
                    values.append(reading.value)
        return {row: Series(_array(times_s), _array(values)) for row, (times_s, values) in found.items()}

    @property
    def problems(self) -> list[str]:
        """What the last pass over it could not read, in words."""
        return self._recording.problems

    def close(self) -> None:
        """Release the file."""
        self._recording.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _array(values: list[float]) -> Sequence[float]:
    try:
        import numpy as np
    except ImportError:
        return values
    array: Sequence[float] = np.asarray(values, dtype=float)
    return array
