"""What the flame page remembers."""

from __future__ import annotations

from msgspec import Struct


class FlameState(Struct, frozen=True):
    """All of it at the start."""

    way: tuple[str, ...] = ()
    """To the selected box: names from the root on (`flame_view.key`)."""
    zoom: int = 0
    """How many of them lie above the box that is drawn at full width."""
