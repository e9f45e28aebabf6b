"""Metrics files of lines: CSV tables, JSON lines, MLflow's metric files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable

from hwtop.job.metrics.counter import Counter
from hwtop.job.metrics.names import meaning
from hwtop.job.metrics.parsed import MetricValue
from hwtop.job.metrics.rows import numbers, reported

_LONGEST = 1 << 18
"""Bytes of a line; a longer one is passed over."""


class _Lines:
    """Cuts bytes into lines; the last one waits for its end."""

    is_whole = False
    total_steps: int | None = None

    def __init__(self, read: Callable[[str], list[MetricValue]]) -> None:
        self.broken = 0
        self._read = read
        self._rest = b""
        self._is_cut = False
        """The line that is being read has lost its start."""

    def feed(self, data: bytes) -> list[MetricValue]:
        """What the lines tell that are complete by now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        found: list[MetricValue] = []
        for line in lines:
            if self._is_cut:
                self._is_cut = False
                continue
            text = line.decode("utf-8", "replace").strip("\r\x00 \ufeff")
            if text:
                found += self._try(text)
        if len(self._rest) > _LONGEST:
            self._rest, self._is_cut = b"", True
            self.broken += 1
        return found

    def jump(self, offset: int) -> int:
        """From the next line on."""
        self._rest, self._is_cut = b"", True
        return offset

    def take_skip(self) -> int:
        """All is read."""
        return 0

    def _try(self, text: str) -> list[MetricValue]:
        try:
            return self._read(text)
        except (ValueError, RecursionError, csv.Error):
            self.broken += 1
            return []


class JsonLines(_Lines):
    """One object a line: metrics.jsonl, MMEngine's scalars.json, detectron2's metrics.json, DINO's log.txt."""

    def __init__(self) -> None:
        super().__init__(self._row)
        self._counter = Counter()

    def _row(self, text: str) -> list[MetricValue]:
        row = json.loads(text)
        if not isinstance(row, dict):
            raise ValueError("no object")
        found = numbers(row)
        return reported(found, self._counter.take(found))


class CsvTable(_Lines):
    """A table with names in its first line: Lightning, Keras, Ultralytics, timm. Cells may be empty."""

    def __init__(self) -> None:
        super().__init__(self._row)
        self._names: tuple[str, ...] | None = None
        self._counter = Counter()

    def _row(self, text: str) -> list[MetricValue]:
        dialect = next((each for each in ",;\t" if each in text), ",")
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=dialect), [])]
        if self._names is None or not any(_is_number(cell) for cell in cells):
            self._names = tuple(cells)  # also where a restarted run writes its names again
            return []
        if len(cells) > len(self._names):
            raise ValueError("more cells than names")
        row = {name: float(cell) for name, cell in zip(self._names, cells, strict=False) if _is_number(cell)}
        return reported(row, self._counter.take(row))


class MlflowMetric(_Lines):
    """mlruns/EXPERIMENT/RUN/metrics/NAME: "milliseconds value step" a line; the step is missing in old ones."""

    def __init__(self, name: str) -> None:
        super().__init__(self._row)
        self._meaning = meaning(name)
        self._name = name

    def _row(self, text: str) -> list[MetricValue]:
        words = text.split()
        meant = self._meaning
        if len(words) not in (2, 3):
            raise ValueError("no metric")
        if meant is None or meant.name in ("step", "iteration"):
            return []
        value = float(words[1]) * meant.factor
        epoch = value if meant.name == "epoch" else None
        step = int(words[2]) if len(words) == 3 else None
        reported_s = float(words[0]) / 1000
        return [MetricValue(tag=self._name, meaning=meant, value=value, step=step, epoch=epoch, reported_s=reported_s)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
