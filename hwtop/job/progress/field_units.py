"""Field units: what stands behind a number of a log line, and rates of work in one spelling."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

SI = {"K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
_SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3, "m": None, "min": None}
_MOST = 2**63
_BYTES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

_RATES = {
    "tps": "tokens/s",
    "wps": "tokens/s",
    "fps": "frames/s",
    "currsamplespersec": "samples/s",
    "cursamplespersec": "samples/s",
    "samplespersec": "samples/s",
    "throughput per gpu tflop/s/gpu": "TFLOP/s/GPU",
    "tflop/s/gpu": "TFLOP/s/GPU",
    "tflop/s": "TFLOP/s",
    "tflop/s/device": "TFLOP/s/device",
    "samples per sec": "samples/s",
    "tgs tokens/gpu/second": "tokens/s/GPU",
    "perf/throughput": "tokens/s/GPU",
}
"""Keys whose unit the framework's source tells: torchtitan, fairseq, stable-baselines3, DeepSpeed, Megatron-LM, MaxText, InternEvo, verl."""
_NOUN = r"tok(?:en)?s?|samples?|im(?:a)?ge?s?|examples?|frames?|seq(?:uence)?s?|words?|utt(?:erance)?s?|clips?|videos?|graphs?|rows?|episodes?|chars?|ins|global step|steps?|batch(?:es)?|it(?:er(?:ation)?)?s?"
_RATE_KEY = re.compile(
    rf"(?:\w+[ /])*?(?:throughput[ /])?({_NOUN})(?: ?/ ?| per )s(?:ec(?:ond)?)?"
    r"(/gpu| ?/ ?device| per gpu| per device| per npu| ?p )?(?: gpu)?$"
)
_RATE_UNIT = re.compile(rf"({_NOUN}|)\s?/\s?s(?:ec(?:ond)?)?(/[gn]pu|/device)?")
_NOUNS = {
    "tok": "tokens", "token": "tokens", "toks": "tokens", "sample": "samples", "example": "examples", "frame": "frames",
    "image": "images", "img": "images", "imgs": "images", "seq": "sequences", "seqs": "sequences", "sequence": "sequences",
    "word": "words", "utt": "utts", "utterance": "utts", "utterances": "utts", "clip": "clips", "video": "videos", "graph": "graphs",
    "row": "rows", "episode": "episodes", "char": "chars", "ins": "instances", "step": "steps", "batch": "it", "batches": "it", "global step": "steps", "iter": "it", "iters": "it", "its": "it",
    "iteration": "it", "iterations": "it", "": "samples",
}  # fmt: skip
_PREFERRED = (
    "samples/s",
    "tokens/s",
    "words/s",
    "images/s",
    "sequences/s",
    "examples/s",
    "instances/s",
    "TFLOP/s/GPU",
    "TFLOP/s/device",
)
_IN_KEY = re.compile(r"\b(gib|gb|mib|mb)\b")


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


def rate(field: Field) -> tuple[float, str] | None:
    """(value, unit) when the field is a throughput: told by its key or by what follows the number."""
    unit = _rate_unit(field.key, field.per if field.total is None else "")
    return None if unit is None else (field.value, unit)


@lru_cache(maxsize=2048)
def _rate_unit(key: str, per: str) -> str | None:
    if key in _RATES:
        return _RATES[key]
    if per.startswith("tflop/s/"):
        return _RATES.get(per)
    found = _RATE_KEY.match(key) or (_RATE_UNIT.fullmatch(per) if per else None)
    if found is None:
        return "samples/s" if key == "ips" else None
    noun = _NOUNS.get(found.group(1), found.group(1))
    return f"{noun}/s" + ("/GPU" if found.group(2) else "")


def rate_unit(per: str) -> str:
    """The unit a bar tells, in the spelling used here; as it is where it is not known."""
    return _rate_unit("", per.lower()) or per


def best_rate(rates: list[tuple[float, str]]) -> tuple[float, str]:
    """The one a person would name first: work done before floating point operations."""
    return min(rates, key=lambda item: preference(item[1]))


def preference(unit: str) -> int:
    """Lower for units that a person would name first."""
    return _PREFERRED.index(unit) if unit in _PREFERRED else len(_PREFERRED)


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
    if unit[:1] in _BYTES and unit[:1]:
        return whole(field.value * _BYTES[unit[:1]])
    is_bare_mib = not unit and not field.is_percent and 100 <= field.value < 2**24 and field.value == int(field.value)
    return int(field.value * 2**20) if is_bare_mib else None


def whole(value: float | None) -> int | None:
    """A count; None for nan and for what no counter reaches."""
    return int(value) if value is not None and abs(value) < _MOST else None
