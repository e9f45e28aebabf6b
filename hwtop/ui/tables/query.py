"""The filter language of tables: `gpu=3 state=D cpu>80 mem>2G cmd~decode !worker`. Terms stand between blanks, and a row must match all
of them; a term with an operator asks a field, any other is looked for in the text of the row. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from hwtop.fields.field import Field, Kind, Value
from hwtop.lazy_regex import lazy_regex
from hwtop.suggestion import did_you_mean

Row = TypeVar("Row")

_UNITS: dict[Kind, dict[str, float]] = {
    "count": {"": 1, "k": 1e3, "m": 1e6},
    "percent": {"": 1, "%": 1},
    "bytes": {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40},
    "seconds": {"": 1, "s": 1, "ms": 1e-3, "m": 60, "h": 3600, "d": 86400},
}
"""What may stand behind a number; sizes count in powers of 1024, as the tables show them."""
_EXAMPLES: dict[Kind, str] = {
    "count": "3, 0-7 or 12k",
    "percent": "80",
    "bytes": "500M or 2G",
    "seconds": "0.5, 30s or 2m",
}

_TERM = lazy_regex(r'!?(?:[a-z][a-z/_]*!?~)?"[^"]*"?|\S+', re.IGNORECASE)
_ASKS = lazy_regex(r"([a-z][a-z/_]*)(!=|!~|>=|<=|=|~|<|>)(.*)", re.IGNORECASE | re.DOTALL)
_NUMBER = lazy_regex(r"(\d+(?:\.(\d*))?|\.(\d+))([a-z%]*)", re.IGNORECASE)
_NONE = "none"
"""Asks for rows that have no value, e.g. `rank=none`."""


class Query(Struct, Generic[Row], frozen=True):
    """What was typed, understood."""

    tests: tuple[Callable[[Row], bool], ...]
    problem: str = ""
    """Why a term asks nothing, and what could be meant."""

    def lets(self, row: Row) -> bool:
        """Whether the row matches all terms; those with a problem are left out."""
        return all(test(row) for test in self.tests)


class _NotUnderstoodError(Exception):
    """Its text is a `Query.problem`."""


def parse(text: str, fields: Mapping[str, Field[Row]], text_of: Callable[[Row], str]) -> Query[Row]:
    """The query in `text`, whatever it is; words are looked for in `text_of` of a row."""
    found = [_tried(term, fields, text_of) for term in _TERM.findall(text)]
    tests = tuple(test for test in found if not isinstance(test, str))
    return Query(tests, next((problem for problem in found if isinstance(problem, str)), ""))


def _tried(term: str, fields: Mapping[str, Field[Row]], text_of: Callable[[Row], str]) -> Callable[[Row], bool] | str:
    """What the term asks, or why it asks nothing."""
    try:
        return _test(term, fields, text_of)
    except _NotUnderstoodError as error:
        return str(error)


def _test(term: str, fields: Mapping[str, Field[Row]], text_of: Callable[[Row], str]) -> Callable[[Row], bool]:
    is_not, term = term.startswith("!"), term.removeprefix("!")
    asked = _ASKS.fullmatch(term)
    if asked is None:
        name, colon, value = term.partition(":")
        if colon and value and name.casefold() in fields:
            raise _NotUnderstoodError(f"{name} has no colon: {name}={value}")
        return partial(_has_word, term.strip('"').casefold(), is_not, text_of)
    name, operator, value = asked[1].casefold(), asked[2], asked[3]
    if name not in fields:
        raise _NotUnderstoodError(f"no field {name}: {did_you_mean(name, fields, ' '.join(fields))}")
    field = fields[name]
    if not value:
        raise _NotUnderstoodError(f"{name}{operator} needs a value, e.g. {name}{operator}{_example(field)}")
    matches = _words(field, operator, value) if field.kind == "word" else _numbers(field, operator, value)
    return partial(_has_value, field, matches, is_not != operator.startswith("!"))


def _has_word(word: str, is_not: bool, text_of: Callable[[Row], str], row: Row) -> bool:
    return not word or (word in text_of(row).casefold()) != is_not


def _has_value(field: Field[Row], matches: Callable[[Value], bool], is_not: bool, row: Row) -> bool:
    return any(map(matches, field.asked(row) or (None,))) != is_not


def _words(field: Field[Row], operator: str, value: str) -> Callable[[Value], bool]:
    """A part of the word will do; of one character, the whole. `~` takes any part, blanks and commas too: it is typed in quotes."""
    if operator.endswith("~"):
        part = value.strip('"').casefold()
        return lambda given: given is not None and part in str(given).casefold()
    if not operator.endswith("="):
        raise _NotUnderstoodError(f"{field.name} is a word: {field.name}={value} or {field.name}!={value}")
    wanted = [part.casefold() for part in value.split(",") if part]
    for part in wanted:
        if field.choices and part != _NONE and not any(_is_meant(part, word) for word in field.choices):
            raise _NotUnderstoodError(
                f"no {field.name} {part}: {did_you_mean(part, field.choices, ' '.join(field.choices))}"
            )
    return lambda given: any(_is_meant(part, given) for part in wanted)


def _is_meant(part: str, word: Value) -> bool:
    if word is None:
        return part == _NONE
    folded = str(word).casefold()
    return part == folded or (len(part) > 1 and part in folded)


def _numbers(field: Field[Row], operator: str, value: str) -> Callable[[Value], bool]:
    """`=` takes ranges and lists, and means what would round to the digits that were typed."""
    if operator.endswith("~"):
        raise _NotUnderstoodError(f"{field.name} is a number: {field.name}={value} or {field.name}>{value}")
    if operator in ("=", "!="):
        spans = [_span(field, part) for part in value.split(",") if part]
        return lambda given: any(_is_within(span, given) for span in spans)
    low, high = _bounds(field, value)
    limit = (low + high) / 2
    over, equal = operator[0] == ">", len(operator) > 1
    return lambda given: (
        isinstance(given, int | float) and ((given > limit if over else given < limit) or (equal and given == limit))
    )


def _span(field: Field[Row], part: str) -> tuple[float, float] | None:
    """From (this one, too) to (this one not); None asks for no value."""
    if part.casefold() == _NONE:
        return None
    first, dash, last = part.partition("-")
    low, high = _bounds(field, first)
    return (low, _bounds(field, last)[1]) if dash else (low, high)


def _is_within(span: tuple[float, float] | None, given: Value) -> bool:
    if span is None or given is None:
        return span is None and given is None
    return isinstance(given, int | float) and span[0] <= given < span[1]


def _bounds(field: Field[Row], text: str) -> tuple[float, float]:
    """The numbers that round to this one, with as many decimals as it has: the first, and the first above."""
    found = _NUMBER.fullmatch(text)
    unit = found[4].casefold().removesuffix("ib") if found else ""
    if field.kind == "bytes" and len(unit) > 1:
        unit = unit.removesuffix("b")
    if found is None or unit not in _UNITS[field.kind]:
        raise _NotUnderstoodError(
            f"{field.name} takes no {text or 'empty number'}: a number, e.g. {_EXAMPLES[field.kind]}"
        )
    if field.kind == "bytes" and not unit and 0 < float(found[1]) < _UNITS["bytes"]["m"]:
        raise _NotUnderstoodError(f"{field.name} {text} is {text} bytes: write {text}M or {text}G")
    size = _UNITS[field.kind][unit]
    half = 0.5 / 10 ** len(found[2] or found[3] or "")
    return (float(found[1]) - half) * size, (float(found[1]) + half) * size


def _example(field: Field[Row]) -> str:
    if field.kind == "word":
        return field.choices[0] if field.choices else "word"
    return re.split(", | or ", _EXAMPLES[field.kind])[0]
