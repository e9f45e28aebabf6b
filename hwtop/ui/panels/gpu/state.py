"""What the GPU page remembers."""

from __future__ import annotations

from msgspec import Struct


class GpuState(Struct, frozen=True):
    """No device chosen at the start."""

    index: int | None = None
    """Of the device under the cursor (see `view.selected`)."""
