"""What one place in a metrics file tells, and the contract of the parsers."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from hwtop.job.metrics.names import MetricName


class MetricValue(Struct, frozen=True, kw_only=True):
    """One number of the training."""

    tag: str
    """As the file calls it."""
    meaning: MetricName
    value: float
    """In the units of `hwtop.model.curve`; may be nan or inf."""
    step: int | None = None
    epoch: float | None = None
    reported_s: float | None = None
    """When it was told, seconds after the epoch; None where the file does not say."""


class Parser(Protocol):
    """Reads one file bit by bit. What is broken is left out and counted; nothing raises."""

    is_whole: bool
    """The file is written anew each time: `feed` gets all of it."""
    broken: int
    """How many places could not be read."""
    total_steps: int | None
    """Where the file tells how many there will be."""

    def feed(self, data: bytes) -> list[MetricValue]:
        """Take the next bytes."""

    def jump(self, offset: int) -> int:
        """Go on in the middle of the file: where the next bytes must come from, at `offset` or shortly before."""

    def take_skip(self) -> int:
        """How many of the bytes that come next are of no interest; they need not be fed. 0 again after the call."""
