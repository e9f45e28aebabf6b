"""All numbers of a recording as CSV, one a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone

from hwtop.fields.readings import readings
from hwtop.model.frame import Frame

HEADER = ("time", "field", "row", "value", "unit")


def readings_csv(frames: Iterable[Frame]) -> Iterator[str]:
    """The text, in parts. `row` is the rank, GPU, core, PID or device, empty for the host; times are UTC."""
    yield _text([HEADER])
    for frame in frames:
        time = datetime.fromtimestamp(frame.derived.time_s, tz=timezone.utc).isoformat(timespec="milliseconds")
        yield _text(
            (time, field.id, next(iter(labels.values()), ""), value, field.unit_name)
            for field, labels, value in readings(frame)
        )


def _text(rows: Iterable[Iterable[object]]) -> str:
    part = io.StringIO()
    csv.writer(part, lineterminator="\n").writerows(rows)
    return part.getvalue()
