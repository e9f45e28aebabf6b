"""All numbers of a recording as Parquet, one a line, as `readings_csv` has them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice

from hwtop.errors import CannotError
from hwtop.fields.readings import readings
from hwtop.model.frame import Frame

_GROUP = 300
"""Frames in a row group: some hundred thousand rows."""


def readings_parquet(frames: Iterable[Frame]) -> Iterator[bytes]:
    """The file, as one part: half of the recording's own size. A word such as a phase is in `word`, a number in `value`; times are UTC.

    Raises:
        CannotError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise CannotError("Parquet needs pyarrow: pip install 'hwtop[parquet]', or use --csv") from None

    name = pa.dictionary(pa.int32(), pa.string())
    columns = {"field": name, "row": name, "value": pa.float64(), "word": name, "unit": name}
    schema = pa.schema({"time": pa.timestamp("ms", tz="UTC"), **columns})
    written, coming = io.BytesIO(), iter(frames)
    with parquet.ParquetWriter(written, schema, compression="zstd") as writer:
        while group := list(islice(coming, _GROUP)):
            rows = [row for frame in group for row in _rows(frame)]
            writer.write_table(pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema))
    yield written.getvalue()


def _rows(frame: Frame) -> Iterator[tuple[int, str, str, float | None, str | None, str]]:
    time_ms = int(frame.derived.time_s * 1000)
    for field, labels, value in readings(frame):
        number, word = (None, value) if isinstance(value, str) else (float(value), None)
        yield time_ms, field.id, next(iter(labels.values()), ""), number, word, field.unit_name
