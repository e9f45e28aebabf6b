"""What the symptoms page remembers."""

from __future__ import annotations

from msgspec import Struct


class SymptomsState(Struct, frozen=True):
    """No finding chosen at the start."""

    symptom: str | None = None
    """Of the finding under the cursor (see `view.selected`)."""
