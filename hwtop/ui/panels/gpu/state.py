"""What the GPU page remembers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuState:
    """No device chosen at the start."""

    index: int | None = None
    """Of the device under the cursor (see `view.selected`)."""
