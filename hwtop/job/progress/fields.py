"""Log fields: the one key/value pass over a progress line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from hwtop.job.progress.field_names import spaced
from hwtop.job.progress.field_units import SI_UNITS, Field, decimals_of, whole
from hwtop.lazy_regex import lazy_regex

_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d|,\d)|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_VALUE = lazy_regex(
    rf"""(?<![\w.+-])(?<!\d[:/])
    (?P<value>{_NUMBER}|[+-]?(?:nan|inf(?:inity)?)(?=m?s?\b))
    (?:(?:\^|\*\*)(?P<power>[+-]?\d{{1,3}}))?
    (?:(?:\s*/\s*|\s+of\s+)(?P<total>\d+(?:,\d{{3}})*)(?![\d.]|/|\s*[A-Za-z]+/))?
    (?:-(?P<upper>\d+)(?=\]))?
    (?:(?P<percent>%)
      |(?P<size>\s?[KMGT]i?B\b|[MG]\b(?=[\s,|)\]"']|$)(?!\s?/))
      |(?P<si>[KMGBT])(?![\w/]|\s?\w+/(?!s))
      |(?P<unit>\s{{0,2}}(?:µs|us|ms|sec(?:onds?|s)?|s|min)\b(?!/(?!step|it|iter|batch|epoch|sample)|(?:/\w+)?\s?=)))?
    (?P<per>(?!\s[^|,]*/[^|,\s]*\s*[:=])\s*/?\s*(?:[A-Za-z]+\s?/\s?(?:s(?:ec(?:ond)?)?|it(?:er(?:ation)?)?|step|batch)\b)(?:/(?:[gn]pu|device)\b)?
      |/(?:s|step|it|iter|iteration|batch)\b(?:/(?:[gn]pu|device)\b)?|\s?TFLOPS?\b)?
    (?!\w|[-:.]\d)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BOXED_UNIT = lazy_regex(
    r"\s*[(\[](ms|s|t|sec|seconds|batch|[A-Za-z]+/s(?:ec)?(?:/GPU)?|TFLOP/s/GPU|train|[GM]i?B|tokens/gpu/second)[)\]](?=['\"\s:=,]|$)",
    re.IGNORECASE,
)
"""A unit in brackets, behind the key or behind the number: `time (ms): 5`, `speed: 9.5 [imgs/sec]`."""
_DRESSED = lazy_regex(
    r"\b[\w.]*(?:tensor|array|float\d*|int\d+|scalar)\((?=[-+\d.]|nan|inf)|(?<=\blr)\([a-z]\w+\)|\.item\(\)|(?<=nan)\((?:ind|snan)\)",
    re.IGNORECASE,
)
"""What a printed scalar wears: `tensor(0.5, device=...)`, `np.float32(0.5)`, MSVC's `-nan(ind)`; PaddleClas' `lr(LinearWarmup)`."""
_PER = lazy_regex(
    r"(?<=[\d.] )([^\W\d_]+|(?<=\d)[mµu]?s) per (?=(?:s|sec|second|step|it|iter|iteration|batch)\b)", re.IGNORECASE
)
"""A rate in words behind its number: `4.1 steps per second`, `0.25 seconds per step`."""
_NUMBER_NEXT = lazy_regex(r"\s+[\d.]")
_OF_SPEED = lazy_regex(r"speed|throughput|rate|ips|fps|time|step")
_READ_KEY_CHARS = 128
_SCALED_KEY = lazy_regex(r"\(1e-?\d+\)")
"""verl's "actor/lr(1e-4)": the value is told in these."""
_BREAK = lazy_regex(r"[|,;{}()<>\t\[\]\"]|\s{2,}| --? |[A-Za-z]\)|[:.]\s(?=[A-Za-z])|:(?=[A-Za-z])|\d:\d\d\s")
"""What parts one field from the next."""
_BOXED = lazy_regex(r"\[(epoch|step|iter|iteration)\]$", re.IGNORECASE)
"""A key in brackets: `[EPOCH] 1/50`."""
_NOT_ASCII = lazy_regex(r"[^\x00-\x7f]+")
_LEADING = lazy_regex(r"^(?:[\d:./]+(?:\s|$)|p\d+\s|[*#=-]+\s|(?:info|debug|warning|success|notice|trace|[iwd])\s)+")
"""What stands before a key: the rest of a time, the level of a logger."""
_MAY_BE_FOREIGN = lazy_regex(r"val|test|dev", re.IGNORECASE)
_SECTION = lazy_regex(
    r"\}|\b(?:(?P<foreign>val(?:id(?:at(?:e|ing|ion))?)?|eval(?:uation)?|test(?:ing)?|dev)(?: set| results?| metrics)?|train(?:ing)?)\b[\"']?\s*(?:[|\])}>:{]|- )\W*(?!n/?a\b|none\b)[A-Za-z]",
    re.IGNORECASE,
)
"""A word that stands over the fields behind it: `Val: loss 0.3`, `[test] loss`, `"val": {"loss"`."""


def fields(text: str) -> Iterator[Field]:
    """All numbers of `text` that are about training, left to right. A key is what stands between the last separator and the number.

    Numbers behind a heading of validation or test are left out, up to the next heading of training.
    """
    if "(" in text:
        text = _SCALED_KEY.sub(" scaled", _DRESSED.sub("", text))
    if "(" in text or "[" in text:
        text = _BOXED_UNIT.sub(r" \1", text)
    if " per " in text:
        text = _PER.sub(r"\1/", text)
    at = 0
    is_foreign = False
    has_sections = _MAY_BE_FOREIGN.search(text) is not None
    for found in _VALUE.finditer(text):
        raw = text[at : found.start()]
        at = _end(text, raw, found)
        for section in _SECTION.finditer(raw) if has_sections else ():
            is_foreign = section.group("foreign") is not None
        if is_foreign:
            continue
        yield _field(raw, found, at)


def _end(text: str, raw: str, found: re.Match[str]) -> int:
    """Where the field ends: `theta 1.000 tok/s 446` tells no rate of theta, the unit is the name of the next number."""
    begin = found.start("per")
    if begin < 0 or not text[begin].isspace() or _NUMBER_NEXT.match(text, found.end()) is None:
        return found.end()
    key = _key(raw[-_READ_KEY_CHARS:])
    return begin if key and _OF_SPEED.search(key) is None else found.end()


def _field(raw: str, found: re.Match[str], end: int) -> Field:
    value, total, upper = found.group("value", "total", "upper")
    unit, per, size, si = found.group("unit", "per", "size", "si")
    number = _power(float(upper or value.replace(",", "")), found["power"])
    return Field(
        key=_key(raw[-_READ_KEY_CHARS:]),
        value=number * SI_UNITS[si.upper()] if si else number,
        total=whole(float(total.replace(",", ""))) if total else None,
        unit=(unit or size or "").strip().lower(),
        per=(per or "").strip().lower() if end == found.end() else "",
        is_percent=found.group("percent") is not None,
        is_aside=raw.endswith("("),
        decimals=decimals_of(value),
    )


def _power(base: float, exponent: str | None) -> float:
    """Of `2^15`, as loss scales are told."""
    if exponent is None or base == 0:
        return base
    try:
        return math.pow(base, int(exponent))
    except OverflowError:
        return math.inf


@lru_cache(maxsize=2048)
def _key(raw: str) -> str:
    """Cached: the lines of one file hold the same text between their numbers."""
    raw = raw.rstrip(" :=>[('\"\t")
    if boxed := _BOXED.search(raw):
        return boxed.group(1).lower()
    cut = 0
    for found in _BREAK.finditer(raw):
        cut = found.end()
    key = raw[cut:]
    if "=" in key:
        key = key[key.rindex("=") + 1 :].partition(" ")[2]  # level=info step=10
    key = _LEADING.sub("", key.strip(" :='\"(<>-*#/.").lower())
    key = spaced(key.replace(".", "/")).strip()
    return key if key.isascii() else _NOT_ASCII.sub(" ", key).strip()
