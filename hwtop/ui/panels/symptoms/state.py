"""What the symptoms page remembers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SymptomsState:
    """No finding chosen at the start."""

    symptom: str | None = None
    """Of the finding under the cursor (see `view.selected`)."""
