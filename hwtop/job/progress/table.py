"""Table columns: a heading of names, and the rows under it: CSV, Ultralytics, fastai, skorch, Ray Tune, notebooks, tf_cnn_benchmarks."""

from __future__ import annotations

import re

from msgspec import Struct

from hwtop.job.progress.field_names import is_foreign, is_loss_by_name, name_of, spaced
from hwtop.job.progress.field_units import Field, decimals_of, rate
from hwtop.job.progress.found import Found, value_of
from hwtop.job.progress.schema import NO_STEP
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

DRAWN = "│┃║┆┇┊┋"
"""Lines that divide the cells of drawn tables, which are heavier in the heading (rich)."""
_PLAIN = str.maketrans(dict.fromkeys(DRAWN, "|"))
_READ_CELLS = 64
_READ_CHARS = 1024
_COUNTERS = {"step", "iteration", "epoch"}
_COUNTER_WORDS = ("epoch", "step", "iter", "batch", "update", "round", "episode")
_DIGITS_ALONE = lazy_regex(r"(?<![\w.])\d")
_SPACES = lazy_regex(r"\s{2,}")
_NUMBER = lazy_regex(
    r"\s*(?P<value>[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|nan|inf))(?:/(?P<total>\d+))?\s*$", re.IGNORECASE
)
_WORDY = lazy_regex(r"(?:[^\W\d]|#)[\w /.#()%:\-]*$")
_RATE_CELL = lazy_regex(r"\s*(?P<key>[A-Za-z/]+/s(?:ec)?): (?P<value>\d+(?:\.\d*)?)")
"""tf_cnn_benchmarks: `images/sec: 123.4 +/- 1.2 (jitter = 3.4)`."""


class Columns(Struct, frozen=True):
    """What the cells of each row are."""

    separator: str
    """"|", ";", "," or a tab; two spaces stand for any white space."""
    names: tuple[str | None, ...]
    keys: tuple[str, ...]

    @property
    def has_loss(self) -> bool:
        """Without one it may be a table of an evaluation."""
        return "loss" in self.names

    def row(self, text: str) -> Progress | None:
        """What a row tells; None for a line that is not one."""
        cells = self._row_cells(text)
        if cells is None:
            return None
        found = Found()
        for name, key, cell in zip(self.names, self.keys, cells, strict=True):
            if name in _COUNTERS and not _counts(name, cell):
                return None
            if name is not None or "/" in key:
                _take(found, name, key, cell)
        return found.progress() if found.values.keys() & _COUNTERS else None

    def named(self, text: str) -> str | None:
        """A row with the name of its column before each value; None for a line that is not one."""
        cells = self._row_cells(text)
        return None if cells is None else " | ".join(map(": ".join, zip(self.keys, cells, strict=True)))

    def _row_cells(self, text: str) -> list[str] | None:
        cells = _cells(text.translate(_PLAIN), self.separator)
        if self.separator == "  ":
            cells = text.split(None, len(self.names))[: len(self.names)]  # a bar may follow
        if len(cells) != len(self.names):
            return None
        # A semicolon is taken so that the comma is free to be the decimal point.
        return [cell.replace(",", ".") for cell in cells] if self.separator == ";" else cells


def may_head(lower: str) -> bool:
    """Cheap: it is asked of every line that tells nothing. Names no number, and a counter."""
    return any(map(lower.__contains__, _COUNTER_WORDS)) and _DIGITS_ALONE.search(lower) is None


def heading(text: str) -> Columns | None:
    """The columns that a line of names announces; None unless it names a counter."""
    if len(text) > _READ_CHARS:
        return None
    text = text.translate(_PLAIN)
    if _DIGITS_ALONE.search(text) is not None:
        return None
    separator = next((mark for mark in ("|", "\t", ";", ",") if mark in text.strip()), "  ")
    cells = _cells(text, separator)
    if not 2 <= len(cells) <= _READ_CELLS or not all(_WORDY.match(cell.strip()) for cell in cells if cell.strip()):
        return None
    keys = tuple(spaced(cell.strip().lower().replace(".", "/")) for cell in cells)
    names = _names(keys)
    if (
        not _COUNTERS & set(names)
        and "loss" in names
        and names[0] is None
        and keys[0]
        and NO_STEP.fullmatch(keys[0]) is None
    ):
        names = ("step", *names[1:])  # a counter of a name of its own: rows begin with a whole number
    if not _COUNTERS & set(names):
        return None
    return Columns(separator, names, keys)


def heading_of_two(above: str, below: str) -> Columns | None:
    """The columns of a heading of two lines, as MATLAB's `trainNetwork` draws it: `| Mini-batch |` over `|   Loss   |`."""
    upper, lower = _cells(above.translate(_PLAIN), "|"), _cells(below.translate(_PLAIN), "|")
    if len(upper) != len(lower):
        return None
    return heading(
        "|".join(f"{first.strip()} {second.strip()}".strip() for first, second in zip(upper, lower, strict=True))
    )


def _names(keys: tuple[str, ...]) -> tuple[str | None, ...]:
    """A quantity goes by its own name; of several losses without a sum the first is taken, as Ultralytics' box loss."""
    names = [None if is_foreign(key) else name_of(key) for key in keys]
    if not {"step", "iteration"}.intersection(names):
        names = [name if name != "step_time" else None for name in names]  # of an epoch
    if "total" in keys and "epoch" in names:
        names[keys.index("total")] = "loss"  # YOLOv7
    elif "loss" not in names:
        parts = [index for index, key in enumerate(keys) if key.endswith(" loss") and not is_foreign(key)]
        objectives = [index for index, key in enumerate(keys) if is_loss_by_name(key) and not is_foreign(key)]
        if parts or len(objectives) == 1:
            names[(parts or objectives)[0]] = "loss"
    return tuple(None if name in names[:index] else name for index, name in enumerate(names))


def _cells(text: str, separator: str) -> list[str]:
    text = text.strip()
    if separator == "  ":
        return _SPACES.split(text)
    return text.strip("|").split(separator)


def _counts(name: str, cell: str) -> bool:
    number = _NUMBER.match(cell)
    return number is not None and (name == "epoch" or float(number.group("value")).is_integer())


def _take(found: Found, name: str | None, key: str, cell: str) -> None:
    if reported := _RATE_CELL.match(cell):
        speed = rate(Field(key=reported.group("key").lower(), value=float(reported.group("value"))))
    else:
        number = _NUMBER.match(cell)
        if number is None:
            return
        total = number.group("total")
        value_text = number.group("value")
        field = Field(
            key=key,
            value=float(value_text),
            total=int(total) if total else None,
            decimals=decimals_of(value_text),
        )
        speed = rate(field) if name is None else None
        value = None if name is None else value_of(name, field)
        if name is not None and value is not None:
            found.take_field(name, value, field, "")
    if speed is not None:
        found.rates.append(speed)
