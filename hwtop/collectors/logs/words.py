"""Log words: what must not be lost of text that is not kept line by line."""

from __future__ import annotations

from collections import Counter

from hwtop.job.patterns.prefilter import Hit, Prefilter

_PROGRESS = rb"step|iter|epoch|batch|loss|it/s|s/it"
"""What lines about the training's progress hold one of."""
_PIECE_BYTES = 16 * 1024
_MOST_OF_A_WORD = 100
"""Lines picked for the same word in one search: a word that every line holds must not crowd out a rare one."""


class Words:
    """Finds lines by their words. For one thread at a time, like the searches it is made of."""

    def __init__(self, patterns: Prefilter) -> None:
        """`patterns` finds all that log patterns begin with."""
        self._patterns = patterns
        self._progress = Prefilter((), (_PROGRESS,))

    def flagged(self, text: bytes) -> list[int]:
        """Ascending offsets, each in a line that a pattern may know. Of each word the first hundred."""
        seen: Counter[int] = Counter()
        found = []
        for end, word in self._patterns.hits(text):
            seen[word] += 1
            if seen[word] <= _MOST_OF_A_WORD:
                found.append(end - 1)
        return found

    def progress(self, text: bytes, most: int) -> list[int]:
        """Ascending offsets, each in one of the newest lines that may hold progress. Searches from the end as far as needed."""
        found: list[int] = []
        end = len(text)
        while end > 0 and len(found) < most:
            start = max(0, end - _PIECE_BYTES)
            if start:
                newline = text.find(b"\n", start, end)
                start = newline + 1 if newline >= 0 else start
            found = [start + at for at in _one_a_line(text[start:end], self._progress.hits(text[start:end]))] + found
            end = min(end - 1, start)
        return found[-most:]


def _one_a_line(text: bytes, hits: list[Hit]) -> list[int]:
    found: list[int] = []
    line_end = 0
    for end, _ in hits:
        if end > line_end:
            found.append(end - 1)
            newline = text.find(b"\n", end - 1)
            line_end = len(text) if newline < 0 else newline + 1
    return found
