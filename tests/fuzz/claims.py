"""Claims: what must hold of everything that hwtop makes of spoilt input."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hwtop.feed.assemble import Assembler
from hwtop.model.snapshot import Snapshot
from hwtop.report.frame.json_report import diagnosis, snapshot
from hwtop.report.json_text import encode
from tests.recording import load

_POINT_IN_TIME = re.compile(
    r"(?:at|time|from|to|first_seen|raised|cleared|started|since|until|not_before|utc_offset|taken|created|seen|boot_time|over_by)_s"
    r"|\w+_(?:at|time|since|from|until)_s"
)
"""Seconds on a clock, or a difference that may have a sign."""
_AMOUNT = re.compile(r"\w+_(?:s|ms|us|ns|bytes|per_s|pct|count|ticks|chars|mhz|w|cores|lines|steps|pages)")
_SHARE = re.compile(r"(?:\w+_)?(?:share|confidence)")
_ANY_NUMBER = {"value", "values", "loss", "lr", "grad_norm", "epoch"}
"""What a training reports of itself may be anything."""


class ClaimError(AssertionError):
    """Something is claimed that cannot be."""


def possible(value: object, name: str = "") -> None:
    """Raises ClaimError where a structure holds a negative amount, a share beyond 0 to 1, or a number that JSON cannot hold."""
    for path, number in _numbers(value, name):
        field = path.rpartition(".")[2]
        if isinstance(number, int) and not -(2**63) <= number < 2**64:
            raise ClaimError(f"{path}: {number.bit_length()} bits")
        if field in _ANY_NUMBER:
            continue
        if isinstance(number, float) and math.isnan(number):
            raise ClaimError(f"{path}: not a number")
        if _SHARE.fullmatch(field) and not -1e-9 <= number <= 1 + 1e-9:
            raise ClaimError(f"{path}: a share of {number}")
        if _AMOUNT.fullmatch(field) and not _POINT_IN_TIME.fullmatch(field) and number < 0:
            raise ClaimError(f"{path}: {number}")


def _numbers(value: object, name: str) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, Struct):
        for field in value.__struct_fields__:
            yield from _numbers(getattr(value, field), f"{name}.{field}")
    elif isinstance(value, dict):
        for key, each in value.items():
            kind = name.rpartition(".")[2]
            yield from _numbers(each, name if kind in _ANY_NUMBER else f"{name}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _numbers(each, name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value


def printable_json(text: str) -> None:
    """Raises where `text` is no JSON, or has characters that a terminal obeys."""
    json.loads(text, parse_constant=_no_constant)
    for char in set(text) - {"\n"}:
        kind, direction = unicodedata.category(char), unicodedata.bidirectional(char)
        if kind in ("Cc", "Cs") or direction in ("RLE", "LRE", "PDF", "RLO", "LRO", "LRI", "RLI", "FSI", "PDI"):
            raise ClaimError(f"JSON holds U+{ord(char):04X}")


def _no_constant(name: str) -> None:
    raise ClaimError(f"JSON holds {name}")


@cache
def moments() -> tuple[Snapshot, Snapshot]:
    """Two snapshots of a recorded job, one after the other."""
    first, second = load("healthy")[20:22]
    return first, second


def assembled(*changed: dict[str, Any]) -> None:
    """All rules and the JSON of snapshots that hold these readings in place of the recorded ones: the first, then the second."""
    assembler = Assembler()
    for moment, fields in zip(moments(), (*changed, changed[-1]), strict=False):
        readings = {name: _timed(reading, moment.at_s) for name, reading in fields.items()}
        frame = assembler.advance(replace(moment, **readings))
        broken = [source.reason for source in frame.derived.sources if source.name == "hwtop"]
        broken += [spot.reason for spot in frame.blind if "internal error" in spot.reason]
        if broken:
            raise ClaimError(str(broken[0]))
        possible(frame.derived, "derived")
        possible(frame.findings, "findings")
        printable_json(encode(diagnosis(frame)))
        printable_json(encode(snapshot(frame)))


def _timed(reading: Any, at_s: float) -> Any:
    return (
        replace(reading, at_s=at_s) if isinstance(reading, Struct) and "at_s" in reading.__struct_fields__ else reading
    )
