"""Result: what the numbers say to a question where no finding does."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.symptom import Answer


class Result(Struct, frozen=True):
    """ "no" is a claim like "yes": `text` says how much was looked at, over which span, and what would have been seen."""

    verdict: Answer
    text: str
