"""Field units: what stands behind a number of a log line, and rates of work in one spelling."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import lru_cache

from msgspec import Struct

from hwtop.lazy_regex import lazy_regex

SI_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "m": None, "min": None}
_MOST = 2**63
"""A count beyond is none. Source: 64-bit signed integers."""
_BYTE_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

_RATES = {
    "tps": "tokens/s",
    "wps": "tokens/s",
    "fps": "frames/s",
    "ips": "samples/s",
    "currsamplespersec": "samples/s",
    "cursamplespersec": "samples/s",
    "samplespersec": "samples/s",
    "tgs tokens/gpu/second": "tokens/s/GPU",
    "perf/throughput": "tokens/s/GPU",
    "throughput": "/s",
    "train throughput": "/s",
}
"""Keys whose unit the framework's source tells: torchtitan, fairseq, stable-baselines3, Paddle, DeepSpeed, Megatron-LM, InternEvo, verl."""
WORK = r"tok(?:en)?s?|samples?|im(?:a)?ge?s?|examples?|frames?|seq(?:uence)?s?|words?|tflops?|utt(?:erance)?s?|clips?|videos?|graphs?|rows?|episodes?|chars?|ins"
"""What a step is made of."""
_NOUN = rf"{WORK}|global step|steps?|batch(?:es)?|it(?:er(?:ation)?)?s?"
_RATE_KEY = lazy_regex(
    rf"(?:\w+[ /])*?(?:throughput[ /])?({_NOUN})(?: ?/ ?| per )s(?:ec(?:ond)?)?"
    r"(/gpu| ?/ ?device| per gpu| per device| per npu| ?p )?(?: gpu)?$"
)
_RATE_UNIT = lazy_regex(rf"({_NOUN}|)\s?/\s?s(?:ec(?:ond)?)?(/[gn]pu|/device)?")
_NOUNS = {
    "tok": "tokens", "token": "tokens", "toks": "tokens", "sample": "samples", "example": "examples", "frame": "frames",
    "image": "images", "img": "images", "imgs": "images", "seq": "sequences", "seqs": "sequences", "sequence": "sequences",
    "word": "words", "utt": "utts", "utterance": "utts", "utterances": "utts", "clip": "clips", "video": "videos", "graph": "graphs",
    "row": "rows", "episode": "episodes", "char": "chars", "ins": "instances", "step": "steps", "batch": "it", "batches": "it", "global step": "steps", "iter": "it", "iters": "it", "its": "it",
    "iteration": "it", "iterations": "it", "": "samples", "tflop": "TFLOP", "tflops": "TFLOP",
}  # fmt: skip
_FIRST = ("samples", "tokens", "words", "images", "sequences", "examples", "instances")
_LAST = ("TFLOP", "")
"""Work that is counted comes before what is not listed (steps, frames), that before floating point operations."""
_IN_KEY = lazy_regex(r"\b(gib|gb|mib|mb)\b")


class Field(Struct, frozen=True):
    """One number of a line with its key, as written but normalised (lower case, one space between words)."""

    key: str
    value: float
    total: int | None = None
    unit: str = ""
    """Of time or size, lower case."""
    per: str = ""
    """A rate: "tokens/s", "it"."""
    is_percent: bool = False
    is_aside: bool = False
    """Stands in parentheses of its own."""
    decimals: int | None = None
    """Digits behind the point, so how precise it is; None where there is an exponent."""

    @property
    def is_exact(self) -> bool:
        """Not written with a fixed number of digits: nothing was rounded to 0 in "0.000e+00", "0.0" and "0", but may be in "0.0000"."""
        return self.decimals is None or self.decimals <= 1

    @property
    def precision(self) -> float:
        """Largest relative error of a rounded value; infinite where that is not known."""
        return 0.5 * 10.0**-self.decimals / abs(self.value) if self.decimals and self.value else math.inf


def decimals_of(number: str) -> int | None:
    """Digits behind the point of a number as it is written; None where there is an exponent, or no number."""
    return len(number.partition(".")[2]) if number[-1:].isdigit() and "e" not in number.lower() else None


def rate(field: Field) -> tuple[float, str] | None:
    """(value, unit) when the field is a throughput: told by its key or by what follows the number."""
    unit = _rate_unit(field.key, field.per if field.total is None else "")
    return None if unit is None else (field.value * SI_UNITS.get(field.unit.upper(), 1.0), unit)  # tok/s=1.1M


@lru_cache(maxsize=2048)
def _rate_unit(key: str, per: str) -> str | None:
    found = _RATE_KEY.match(key) or (_RATE_UNIT.fullmatch(per) if per else None)
    if found is None:
        return _RATES.get(key)
    noun, device = found.group(1), found.group(2) or ""
    suffix = "/device" if "device" in device else "/GPU" if device else ""
    return f"{_NOUNS.get(noun, noun)}/s{suffix}"


def rate_unit(per: str) -> str:
    """The unit a bar tells, in the spelling used here; as it is where it is not known."""
    return _rate_unit("", per.lower()) or per


def best_rate(rates: list[tuple[float, str]], throughputs: Collection[str] = ()) -> tuple[float, str]:
    """The one a person would name first. `throughputs`: units of those that the line itself calls by that word."""
    return min(rates, key=lambda item: (_is_of_device(item[1]), item[1] not in throughputs, preference(item[1])))


def preference(unit: str) -> int:
    """Lower for units that a person would name first: of the whole job, then by what is counted."""
    noun = unit.partition("/")[0]
    others = len(_FIRST)
    place = _FIRST.index(noun) if noun in _FIRST else others + 1 + _LAST.index(noun) if noun in _LAST else others
    return place + _is_of_device(unit) * (others + len(_LAST) + 1)


def _is_of_device(unit: str) -> bool:
    return unit.count("/") > 1


def seconds(field: Field) -> float | None:
    """A duration in seconds; the unit comes from the value's suffix or from the key. None for minutes: never of one step."""
    unit = field.unit or ("ms" if re.search(r"\bms\b", field.key) else "s")
    scale = _SECONDS.get(unit, 1.0)
    return None if scale is None else field.value * scale


def size_bytes(field: Field) -> int | None:
    """A size in bytes. Frameworks mean 1024s whatever they write; a bare whole number of thousands is taken for MiB.

    Sources: torchvision references and MMEngine print `max_memory_allocated / 1024 / 1024` bare; None where no unit is told
    and the value is too small to be that.
    """
    unit = field.unit
    if not unit and (found := _IN_KEY.search(field.key)):
        unit = found.group(1)
    if unit[:1] in _BYTE_UNITS and unit[:1]:
        return whole(field.value * _BYTE_UNITS[unit[:1]])
    is_bare_mib = not unit and not field.is_percent and 100 <= field.value < 2**24 and field.value == int(field.value)
    return int(field.value * 2**20) if is_bare_mib else None


def whole(value: float | None) -> int | None:
    """A count; None for nan, for what no counter reaches, and for -1, which stands for a total that is not known."""
    return int(value) if value is not None and 0 <= value < _MOST else None
