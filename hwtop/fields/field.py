"""Field: one number or word of a rank, process, device or the host, declared once.

Its column, filter, order, colour, help and documentation all come from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct, field

from hwtop.fields import units
from hwtop.fields.level import Level, Levels
from hwtop.model.frame import Frame

Row = TypeVar("Row")
Kind = Literal["count", "percent", "bytes", "seconds", "word"]
"""What may be typed behind it in a filter, and how it is written unless `Field.format` says otherwise."""
Value = float | str | None
Table = Literal["nodes", "ranks", "processes", "busiest", "gpus", "disks", "mounts", "nics"]

_FORMATS: Mapping[Kind, Callable[[float | None], str]] = {
    "count": units.count,
    "percent": units.pct,
    "bytes": units.size,
    "seconds": units.short_duration,
}
_UNITS: Mapping[Kind, str] = {"count": "", "percent": "%", "bytes": "B", "seconds": "s", "word": ""}


class Column(Struct, frozen=True, kw_only=True):
    """How a field stands in a table; sizes in cells."""

    width: int
    priority: int = 0
    """Columns of the highest number are dropped first where the terminal is narrow; 0 is never dropped."""
    title: str | None = None
    """None = that of the field."""
    grow: int = 0
    """Share of the room that is left."""
    most: int = 1_000
    """Widest."""
    align: Literal["left", "right"] | None = None
    """None = words left, numbers right."""
    shape: Literal["text", "bar", "trend"] = "text"
    is_kept: bool = False
    """In tables that leave out a column which no row fills, this one stays."""


class Sort(Struct, Generic[Row], frozen=True, kw_only=True):
    """The order of a table by a field."""

    words: str
    """The order in words; the largest value first, unless `is_rising`."""
    turned: str
    """The other way round."""
    is_rising: bool = False
    """The smallest value first."""
    key: Callable[[Row], Value] | None = None
    """Where rows are not ordered by the value itself."""


class Field(Struct, Generic[Row], frozen=True, kw_only=True):
    """What hwtop knows of each row of a subject."""

    id: str
    """ "rank.step_time_s": subject, then name with its unit. Never changes: settings and records name fields by it."""
    about: str
    """What it is, in a few words: help and documentation."""
    kind: Kind
    value: Callable[[Row], Value]
    """Of one row; None where it is unknown."""
    name: str = ""
    """In filters and orders ("s/step"); "" = it cannot be asked for."""
    aliases: tuple[str, ...] = ()
    title: str = ""
    """Of its column and label; "" = the name."""
    unit: str = ""
    """Empty = that of the kind."""
    format: Callable[[float | None], str] | None = None
    """How a number is written; None = as all of its kind."""
    values: Callable[[Row], Sequence[Value]] | None = None
    """What a filter sees, where that is more than the value: the GPUs of a rank, the word and the letter of a state."""
    choices: tuple[str, ...] = ()
    """All that a word can be, where that is known."""
    sort: Sort[Row] | None = None
    several: Callable[[Sequence[Value]], Value] | None = None
    """The value of a row that stands for several; None = such a row has none."""
    own_level: Callable[[Row], Level] | Level | None = None
    """Where no rule checks this number (see `hwtop.fields.levels`)."""
    is_low: bool = False
    """The low end is the bad one."""
    applies: Callable[[Row], bool] | None = None
    """Whether its level holds for this row; None = for each."""
    columns: Mapping[Table, tuple[Column, ...]] = field(default_factory=dict)
    """In which tables it stands."""
    json: str = ""
    """Path in the subject's object of `hwtop snapshot --json`; "" where that has only what it is made of."""

    @property
    def label(self) -> str:
        """The title of its column."""
        return self.title or self.name

    @property
    def unit_name(self) -> str:
        """The unit, e.g. "B/s"; "" for words and what is counted."""
        return self.unit or _UNITS[self.kind]

    def text(self, row: Row) -> str:
        """The value as people read it; unknown is a dash."""
        return self.written(self.value(row))

    def written(self, value: Value) -> str:
        """A value of this field as people read it."""
        if isinstance(value, str) or value is None:
            return value or units.UNKNOWN
        return (self.format or _FORMATS[self.kind])(value)

    def asked(self, row: Row) -> Sequence[Value]:
        """What a filter sees."""
        return self.values(row) if self.values else (self.value(row),)

    def number(self, row: Row) -> float | None:
        """The value where it is a number."""
        value = self.value(row)
        return None if isinstance(value, str) else value

    def level(self, row: Row, levels: Levels) -> Level | None:
        """From where on the number of this row is a warning: `levels` are those of the rules."""
        if self.applies is not None and not self.applies(row):
            return None
        own = self.own_level
        return levels.get(self.id) or (own(row) if callable(own) else own)


class Subject(Struct, Generic[Row], frozen=True, kw_only=True):
    """What fields are about: all that an exporter needs to read them."""

    name: str
    title: str
    fields: tuple[Field[Row], ...]
    rows: Callable[[Frame], Iterable[Row]]
    json: str
    """Path to its rows in `hwtop snapshot --json`; "" = the object itself."""
    labels: Mapping[str, Callable[[Row], Value]] = field(default_factory=dict)
    """What identifies a row outside of hwtop, the most important first; empty where there is only one."""
    optional_labels: frozenset[str] = frozenset()
    """Those of them that rows without a value do not have."""

    def named(self) -> dict[str, Field[Row]]:
        """Fields that can be asked for, by each name."""
        return {name: each for each in self.fields if each.name for name in (each.name, *each.aliases)}
