"""What the rows of a recording are."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from hwtop.model.fleet import FleetReading
from hwtop.model.snapshot import Snapshot

Reading = Snapshot | FleetReading
"""What one row holds."""
R = TypeVar("R", bound=Reading)


class Kind(Struct, Generic[R], frozen=True):
    """Of all rows of one file."""

    version: int
    """In the header as user_version, so that a reader that does not have this kind refuses the file."""
    reading: type[R]
    most_bytes: int
    """Of one row before compression; larger ones are neither written nor read."""
    words: str
    """What a file of this kind is, for messages."""
    row: str
    """What one row is, for messages."""


MACHINE = Kind(1, Snapshot, 8 << 20, "a recording of one machine", "snapshot")
"""A Snapshot of 8 ranks takes 60 to 140 KB."""
FLEET = Kind(2, FleetReading, 64 << 20, "a recording of several nodes", "reading")
"""A node of 8 ranks with 8 GPUs takes 33 KB of a reading, so that 1,900 nodes fit."""
VERSIONS = (MACHINE.version, FLEET.version)
"""All that this hwtop reads."""
