"""Metrics files of the training (TensorBoard, W&B, MLflow, CSV, JSON lines): where to look, and what they told."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.curve import CurveName

MetricsKind = Literal["tensorboard", "wandb", "wandb-summary", "mlflow", "csv", "jsonl", "trainer-state"]


class MetricsTarget(Struct, frozen=True, gc=False, kw_only=True):
    """A process that may leave metrics files or a heartbeat."""

    pid: int
    own_pid: int
    """Its PID as it sees it itself: inside its container."""
    rank: int | None = None
    uid: int | None = None
    start_ticks: int = 0
    started_s: float | None = None
    """Seconds after the epoch: older files are of another run."""
    files: tuple[str, ...] = ()
    """Open files with the name of a metrics file, or with the ending of one and open for writing."""
    folders: tuple[str, ...] = ()
    """Where such files may lie: the working folder, and those that the command line names."""


class MetricsPoint(Struct, frozen=True, gc=False, kw_only=True):
    """One value of one quantity."""

    name: CurveName
    value: float
    at_s: float
    """When it was told, on the monotonic clock; when the file was last written, where it does not say."""
    step: int | None = None
    epoch: float | None = None
    is_past: bool = False
    """Told before hwtop looked for the first time."""


class MetricsFile(Struct, frozen=True, gc=False, kw_only=True):
    """One metrics file and what it told since the last reading."""

    path: str
    kind: MetricsKind
    rank: int | None = None
    """Of the rank that writes it; None where nothing tells."""
    size_bytes: int | None = None
    age_s: float | None = None
    """Since it was last written."""
    has_times: bool = True
    """The file tells when each value was told."""
    points: tuple[MetricsPoint, ...] = ()
    unit: str = ""
    """Of its throughput."""
    total_steps: int | None = None
    skipped_bytes: int = 0
    """At its start, not read: the file was larger than what is read of the past."""
    broken: int = 0
    """Places that could not be read so far."""
    console: str | None = None
    """W&B's copy of what the run prints, beside its file."""
    reason: str | None = None
    """Why it cannot be read, or not in full."""


class MetricsReading(Struct, frozen=True, gc=False, kw_only=True):
    """What all metrics files told since the last reading; each value is in exactly one."""

    at_s: float
    files: tuple[MetricsFile, ...] = ()
    missing: dict[str, str] = {}
