"""Log fields: the one key/value pass over a progress line, and what the keys of the frameworks are called here.

Formats: the frameworks' own sources (Megatron-LM training.py, torchtitan metrics.py, nanoGPT train.py, MaxText
metric_logger.py, DeepSpeed engine.py and timer.py, Keras progbar.py, transformers trainer_callback.py, fairseq
progress_bar.py, timm train.py, torchvision references utils.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_VALUE = re.compile(
    rf"""(?<![\w.+-])
    (?P<value>{_NUMBER}|[+-]?(?:nan|inf(?:inity)?)(?![A-Za-z_]))
    (?:\s*/\s*(?P<total>\d+(?:,\d{{3}})*)(?![\d.]|/))?
    (?:-(?P<upper>\d+)(?=\]))?
    (?P<unit>\s{{0,2}}(?:µs|us|ms|sec(?:onds?|s)?|s)\b(?!/(?!step|it|iter|batch|epoch|sample)))?
    (?P<per>(?!\s[^|,]*/[^|,\s]*\s*[:=])\s*/?\s*(?:[A-Za-z]+\s?/\s?(?:s(?:ec(?:ond)?)?|it(?:er(?:ation)?)?|step|batch)\b)|/(?:s|step|it|iter|batch)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNIT_IN_KEY = re.compile(r"\s*\((ms|s|sec|seconds|[A-Za-z]+/s(?:/GPU)?|TFLOP/s/GPU|train)\)", re.IGNORECASE)
_BREAK = re.compile(r"[|,;{}()\t\]]|\s{2,}| - |[A-Za-z]\)|:\s?(?=[A-Za-z])")
"""What parts one field from the next."""
_WORD_BREAK = re.compile(r"[_\-\s]+")

_LOSS = """loss, train loss, training loss, lm loss, total loss, reduced train loss, train/loss, loss/train, loss train,
 train/total loss, loss/train/total, train loss/train/total, loss/tok, meta loss, avg loss, mean loss, running loss,
 loss total, train/loss step, train loss step, loss step, batch loss, ce loss, nll loss, mlm loss, loss/total, train total loss"""
_GRAD_NORM = """grad norm, gradnorm, gnorm, gradient norm, global grad norm, total grad norm, train/grad norm, norm,
 gradients norm, train/global grad norm, optim/total grad norm"""
_LR = "lr, learning rate, lrate, train/lr, train/learning rate, current lr, base lr, learningrate"
_STEP = """step, global step, train step, training step, completed step, current step, num updates, train/global step,
 trainer/global step, total timesteps, steps, update step, optimizer step"""
_ITERATION = "iteration, iter, it, batch, update, updates, mini batch, minibatch, batch idx, itr, training iteration, train iter, trained batches"
_EPOCH = "epoch, train epoch, training epoch, ep, epochs completed, train/epoch"
_STEP_TIME = """time, step time, iter time, iteration time, time per step, time per iteration, elapsed time per iteration,
 elapsed time per iteration ms, elapsed time per iteration s, train step timing in s, train step timing, seconds, s/step,
 s/it, sec/step, sec/it, sec/batch, s/batch, batch time, took, dt, step avg, avg step time, time/step, step time s, ms/step, step time ms,
 seconds per step, train/step time, iter time s, time per batch, time s, step duration"""


def _names(text: str) -> list[str]:
    return [_WORD_BREAK.sub(" ", name.strip()) for name in text.split(",")]


ALIASES: dict[str, str] = {
    **dict.fromkeys(_names(_LOSS), "loss"),
    **dict.fromkeys(_names(_GRAD_NORM), "grad_norm"),
    **dict.fromkeys(_names(_LR), "lr"),
    **dict.fromkeys(_names(_STEP), "step"),
    **dict.fromkeys(_names(_ITERATION), "iteration"),
    **dict.fromkeys(_names(_EPOCH), "epoch"),
    **dict.fromkeys(_names(_STEP_TIME), "step_time"),
}

_RATES: dict[str, str] = {
    "tps": "tokens/s",
    "wps": "tokens/s",
    "fps": "frames/s",
    "currsamplespersec": "samples/s",
    "throughput per gpu tflop/s/gpu": "TFLOP/s/GPU",
    "tflop/s/device": "TFLOP/s/device",
    "samples per sec": "samples/s",
}
_RATE_KEY = re.compile(
    r"(?:\w+ )*?(?:throughput )?(tok(?:en)?s?|samples?|im(?:a)?ge?s?|examples?|frames?|seq(?:uence)?s?|global step|steps?|it(?:er(?:ation)?)?s?)"
    r"(?: ?/ ?| per )s(?:ec(?:ond)?)?(/gpu|/device| per gpu)?$"
)
_RATE_UNIT = re.compile(
    r"(tok(?:en)?s?|samples?|im(?:a)?ge?s?|examples?|frames?|seq(?:uence)?s?|steps?|it(?:er)?s?|)\s?/\s?s(?:ec(?:ond)?)?"
)
_NOUNS = {
    "tok": "tokens", "token": "tokens", "toks": "tokens", "sample": "samples", "example": "examples", "frame": "frames",
    "image": "images", "img": "images", "imgs": "images", "seq": "sequences", "seqs": "sequences", "sequence": "sequences",
    "step": "steps", "global step": "steps", "iter": "it", "iters": "it", "its": "it", "iteration": "it", "iterations": "it", "": "samples",
}  # fmt: skip
_PREFERRED = (
    "samples/s",
    "tokens/s",
    "images/s",
    "sequences/s",
    "examples/s",
    "frames/s",
    "TFLOP/s/GPU",
    "TFLOP/s/device",
)

_FOREIGN = re.compile(r"^(?:val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev)(?:[ /_]|$)")
_SECONDS = {"µs": 1e-6, "us": 1e-6, "ms": 1e-3}


class Field(Struct, frozen=True):
    """One number of a line with its key, as written but normalised (lower case, one space between words)."""

    key: str
    value: float
    total: int | None
    unit: str
    per: str
    start: int
    end: int


def fields(text: str) -> Iterator[Field]:
    """All numbers of `text`, left to right. A key is what stands between the last separator and the number."""
    text = _UNIT_IN_KEY.sub(r" \1", text)
    at = 0
    for found in _VALUE.finditer(text):
        raw_key = text[at : found.start()]
        upper = found.group("upper")
        total = found.group("total")
        yield Field(
            key=_key(raw_key),
            value=float(upper or found.group("value").replace(",", "")),
            total=int(total.replace(",", "")) if total else None,
            unit=(found.group("unit") or "").strip().lower(),
            per=(found.group("per") or "").strip().lower(),
            start=found.start(),
            end=found.end(),
        )
        at = found.end()


def is_foreign(key: str) -> bool:
    """The key belongs to validation or test, not to training."""
    return _FOREIGN.match(key) is not None


def rate(field: Field) -> tuple[float, str] | None:
    """(value, unit) when the field is a throughput: told by its key or by what follows the number."""
    if (unit := _RATES.get(field.key)) is not None:
        return field.value, unit
    if found := _RATE_KEY.match(field.key):
        noun = _NOUNS.get(found.group(1), found.group(1))
        return field.value, f"{noun}/s" + ("/GPU" if found.group(2) else "")
    if field.per and (found := _RATE_UNIT.fullmatch(field.per)):
        noun = found.group(1)
        return field.value, f"{_NOUNS.get(noun, noun)}/s"
    return None


def best_rate(rates: list[tuple[float, str]]) -> tuple[float, str]:
    """The one a person would name first: work done before floating point operations."""
    return min(rates, key=lambda item: _PREFERRED.index(item[1]) if item[1] in _PREFERRED else len(_PREFERRED))


def seconds(field: Field) -> float:
    """A duration in seconds; the unit comes from the value's suffix or from the key."""
    unit = field.unit or ("ms" if re.search(r"\bms\b", field.key) else "s")
    return field.value * _SECONDS.get(unit, 1.0)


def _key(raw: str) -> str:
    raw = raw.rstrip(" :=[('\"\t")
    cut = 0
    for found in _BREAK.finditer(raw):
        cut = found.end()
    return _WORD_BREAK.sub(" ", raw[cut:].strip(" :='\"[(<>-*#/.").lower()).strip()
