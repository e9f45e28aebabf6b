"""Matching as one types: words, their beginnings, parts, and letters in their order. Pure."""

from __future__ import annotations

import re

Match = tuple[float, tuple[int, ...]]
"""How far the text is from what is typed (0 = the same), and the characters that were matched."""

_WORD, _BEGINNING, _PART, _LETTERS = 0.0, 1.0, 3.0, 6.0
"""Distance of each way in which a typed word is in a text."""
_SPREAD = 0.5
"""A letter between matched ones."""
_LOOSE = 2
"""Most letters between, for each matched one: wider apart is chance."""


def match(typed: str, text: str) -> Match | None:
    """How `text` has every word of `typed`, upper and lower case alike; None where one is not in it."""
    small = text.lower()
    small = small if len(small) == len(text) else text  # a few characters become two: their places would not fit
    distance = 0.0
    places: set[int] = set()
    for word in typed.lower().split():
        found = _word(word, small)
        if found is None:
            return None
        distance += found[0]
        places.update(found[1])
    return distance, tuple(sorted(places))


def _word(word: str, text: str) -> Match | None:
    escaped = re.escape(word)
    for expression, distance in (
        (rf"(?<!\w){escaped}(?!\w)", _WORD),
        (rf"(?<!\w){escaped}", _BEGINNING),
        (escaped, _PART),
    ):
        if found := re.search(expression, text):
            return distance, tuple(range(found.start(), found.end()))
    return _letters(word, text)


def _letters(word: str, text: str) -> Match | None:
    """The closest place where the letters of `word` come in their order, from the beginning of a word on."""
    best: Match | None = None
    for start in re.finditer(r"(?<!\w)\w", text):
        places: list[int] = []
        at = start.start()
        for letter in word:
            at = text.find(letter, at)
            if at < 0 or (not places and at != start.start()):
                break
            places.append(at)
            at += 1
        if len(places) < len(word):
            continue
        between = places[-1] - places[0] + 1 - len(word)
        if between <= _LOOSE * len(word) and (best is None or _LETTERS + _SPREAD * between < best[0]):
            best = _LETTERS + _SPREAD * between, tuple(places)
    return best
