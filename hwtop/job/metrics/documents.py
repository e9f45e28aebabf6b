"""Metrics files that are one JSON document, written anew each time."""

from __future__ import annotations

import json

from hwtop.job.metrics.parsed import MetricValue
from hwtop.job.metrics.rows import numbers, reported


class TrainerState:
    """trainer_state.json of transformers (trainer_callback.py, TrainerState): the rows of `log_history`, and `max_steps`."""

    is_whole = True

    def __init__(self) -> None:
        self.broken = 0
        self.total_steps: int | None = None

    def feed(self, data: bytes) -> list[MetricValue]:
        """All rows, those of evaluations left out."""
        document = _document(data)
        if document is None:
            self.broken = 1
            return []
        self.broken = 0
        total = document.get("max_steps")
        self.total_steps = total if isinstance(total, int) and total > 0 else None
        history = document.get("log_history")
        rows = history if isinstance(history, list) else []
        return [each for row in rows if isinstance(row, dict) for each in reported(numbers(row))]

    def jump(self, offset: int) -> int:
        """It is read whole."""
        return 0 * offset

    def take_skip(self) -> int:
        """It is read whole."""
        return 0


class WandbSummary:
    """files/wandb-summary.json: the newest value of each metric."""

    is_whole = True
    total_steps: int | None = None

    def __init__(self) -> None:
        self.broken = 0

    def feed(self, data: bytes) -> list[MetricValue]:
        """One row."""
        document = _document(data)
        self.broken = int(document is None)
        return reported(numbers(document)) if document else []

    def jump(self, offset: int) -> int:
        """It is read whole."""
        return 0 * offset

    def take_skip(self) -> int:
        """It is read whole."""
        return 0


def _document(data: bytes) -> dict[object, object] | None:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
