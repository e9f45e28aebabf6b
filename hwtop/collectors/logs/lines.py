"""Log lines: bytes in pieces -> the lines worth keeping, in bounded memory whatever comes.

Text is handled in whole blocks: lines that are not kept are counted and searched for words that matter, and never become
Python objects one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hwtop.collectors.logs.words import Words
from hwtop.job.log.block import LONGEST_CHARS
from hwtop.job.log.text import shown
from hwtop.job.log.wrapping import Unwrap

LONGEST_BYTES = 4 * LONGEST_CHARS
_KEPT_BYTES = 1 << 20
"""Of one file in one reading; older lines are treated as those of a flood."""
_AFTER_A_HIT = 60
"""Lines kept after one that was picked out of a flood: a traceback ends with what it is about."""
_MOST_AFTER_HITS = 1000
"""Lines picked out of one file's flood in one reading, from which on only lines with a hit are."""
_FEWEST_PROGRESS = 8
"""Lines about progress picked out of a flood at least; a quarter of what is kept otherwise."""
_EXCERPT = (200, 1000)
"""Bytes delivered before and after a word in the cut part of an endless line."""
_MOST_EXCERPTS = 20
_OVERLAP = 256
"""Bytes of a cut part that are searched again with the next: no word a pattern needs is longer."""
_BACKSPACES = re.compile(rb"\x08{2,}")
_CONTROLS = re.compile(rb"[\x00\x08\x1b]|\r(?!\n|\Z)")


@dataclass(frozen=True)
class Run:
    """Whole lines that follow each other, as bytes without the last newline."""

    line_no: int | None
    raw: bytes
    cut_bytes: int = 0
    """Of the last line, beyond what `raw` holds."""


class LineBuffer:
    """Takes blocks as they come; gives the newest `limit` lines, and of the older ones those with words that matter."""

    def __init__(self, words: Words, line_no: int | None = 1, is_fragment: bool = False) -> None:
        """`is_fragment`: the first block begins in the middle of a line."""
        self.limit: int | None = 20_000
        self.skipped = 0
        """Lines not kept since the last `take`."""
        self.longest_bytes = LONGEST_BYTES
        """A line that grows beyond it is shortened before its end has come."""
        self._words = words
        self._is_fragment = is_fragment
        self._done: list[Run] = []
        self._picked = 0
        self._window = b""
        self._count = 0
        self._first_no = line_no
        self._pending = b""
        self._cut_bytes = 0
        self._overlap = b""
        self._excerpts = 0
        self._reported = b""

    def feed(self, block: bytes) -> None:
        """Take what comes next."""
        end = block.rfind(b"\n")
        if end < 0:
            self._extend(block)
            return
        first_end = block.find(b"\n")
        self._extend(block[:first_end])
        self._finish()
        if first_end < end:
            self._add(block[first_end + 1 : end])
        self._extend(block[end + 1 :])

    def take(self) -> list[Run]:
        """The lines since the last call, in their order."""
        self._thin()
        self._flush()
        runs, self._done, self._picked = self._done, [], 0
        return runs

    def unfinished(self, is_still: bool) -> Run | None:
        """The last line that has no end yet, once: a bar at each of its states, anything else when it has not grown."""
        pending = self._pending
        if not pending or pending == self._reported or self._is_fragment:
            return None
        if not is_still and b"\r" not in pending and b"\b\b" not in pending:
            return None
        self._reported = pending
        return Run(self._line_no(), pending, self._cut_bytes)

    def _line_no(self) -> int | None:
        return None if self._first_no is None else self._first_no + self._count

    def _extend(self, part: bytes) -> None:
        """Of the line that has no end yet."""
        if self._is_fragment:
            _, returned, part = part.partition(b"\r")  # what a carriage return begins is whole
            if not returned:
                return
            self._is_fragment = False
        if self._cut_bytes:
            self._cut(part)
            return
        self._pending += part
        if len(self._pending) > self.longest_bytes:
            self._shorten()

    def _shorten(self) -> None:
        """A bar redraws its line for ever and only its last states matter; of any other endless line the start is kept."""
        pending = self._pending
        if b"\r" in pending:
            keep = len(b"\r".join(pending.rsplit(b"\r", 2)[-2:]))
        elif b"\b\b" in pending:
            keep = len(pending) - [0, *(found.end() for found in _BACKSPACES.finditer(pending))][-2:][0]
        else:
            keep = len(pending)
        if keep < len(pending):
            self._excerpt(pending[:-keep])
            self._pending = pending = pending[-keep:]
        if len(pending) > LONGEST_BYTES:
            self._pending = pending[:LONGEST_BYTES]
            self._cut(pending[LONGEST_BYTES:], since=LONGEST_BYTES - _OVERLAP)

    def _cut(self, part: bytes, since: int | None = None) -> None:
        self._cut_bytes += len(part)
        before = self._overlap if since is None else self._pending[since:]
        self._excerpt(before + part)
        self._overlap = (before + part)[-_OVERLAP:]

    def _excerpt(self, text: bytes) -> None:
        """Tell what stands around the words in a part of a line that is not kept."""
        until = 0
        for at in self._words.flagged(text):
            if at < until or self._excerpts >= _MOST_EXCERPTS:
                continue
            until = at + _EXCERPT[1]
            self._excerpts += 1
            self._flush()
            start = max(0, at - _EXCERPT[0], text.rfind(b"\r", 0, at) + 1)
            self._done.append(Run(self._line_no(), text[start:until].partition(b"\r")[0]))

    def _finish(self) -> None:
        """A newline has come."""
        raw, cut, reported = self._pending, self._cut_bytes, self._reported
        self._pending, self._reported, self._overlap, self._cut_bytes, self._excerpts = b"", b"", b"", 0, 0
        if self._is_fragment:
            self._is_fragment = False
            self._skip_number()
        elif reported and raw == reported and not cut:
            self._flush()
            self._skip_number()
        elif cut:
            self._flush()
            self._done.append(Run(self._first_no, raw, cut))
            self._skip_number()
        else:
            self._add(raw)

    def _skip_number(self) -> None:
        self._flush()
        if self._first_no is not None:
            self._first_no += 1

    def _add(self, lines: bytes) -> None:
        self._window = lines if self._count == 0 else self._window + b"\n" + lines
        self._count += lines.count(b"\n") + 1
        if len(self._window) > 2 * _KEPT_BYTES or (self.limit is not None and self._count > 2 * self.limit):
            self._thin()

    def _flush(self) -> None:
        """What stands in the window is followed by something else than the next line."""
        if self._count:
            self._done.append(Run(self._first_no, self._window))
            self._first_no = self._line_no()
            self._window, self._count = b"", 0

    def _thin(self) -> None:
        """Release all but the newest lines of the window."""
        if self.limit is None:
            return
        start = 0
        if self._count > self.limit:
            start = len(self._window.rsplit(b"\n", self.limit)[0]) + 1
        if len(self._window) - start > _KEPT_BYTES:
            newline = self._window.find(b"\n", len(self._window) - _KEPT_BYTES)
            start = max(start, newline + 1)
        if start == 0:
            return
        old, self._window = self._window[: start - 1], self._window[start:]
        count = old.count(b"\n") + 1
        self._pick(old, count)
        self._count -= count
        if self._first_no is not None:
            self._first_no += count

    def _pick(self, text: bytes, count: int) -> None:
        """Of lines that are not kept: those that a pattern may know with what stands after them, and the newest of progress."""
        after = dict.fromkeys(self._words.flagged(text), _AFTER_A_HIT)
        number, counted_to, until = self._first_no, 0, 0
        most = max(_FEWEST_PROGRESS, (self.limit or 0) // 4)
        for at in sorted({*after, *self._words.progress(text, most)}):
            if at < until:
                continue
            start = max(until, text.rfind(b"\n", 0, at) + 1)
            until = _lines_on(text, at, after.get(at, 0) if self._picked < _MOST_AFTER_HITS else 0)
            if number is not None:
                number += text.count(b"\n", counted_to, start)
                counted_to = start
            run = Run(number, text[start : until - 1])
            self._done.append(run)
            lines = run.raw.count(b"\n") + 1
            self._picked += lines
            count -= lines
        self.skipped += count


def _lines_on(text: bytes, at: int, more: int) -> int:
    """Where the line after that of `at`, and `more` further ones, begins; as if the text ended with a newline."""
    for _ in range(more + 1):
        end = text.find(b"\n", at)
        if end < 0:
            return len(text) + 1
        at = end + 1
    return at


def texts(run: Run, words: Words, unwrap: Unwrap | None, *, states: int = 0) -> list[tuple[int | None, str]]:
    """(line number, text) of each line of a run, as a terminal would have shown it, none longer than LONGEST_CHARS and a note.

    Several texts with one number where a line showed several things in turn that matter; of what it overwrote also the newest
    `states`: what a bar told before hwtop attached is read once, and stands nowhere else.
    """
    raws = run.raw.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\r").split("\n")
    numbers: Sequence[int | None] = (
        [None] * len(raws) if run.line_no is None else range(run.line_no, run.line_no + len(raws))
    )
    is_plain = not run.cut_bytes and unwrap is None and _CONTROLS.search(run.raw) is None
    if is_plain and max(map(len, raws)) <= LONGEST_CHARS:
        return list(zip(numbers, raws, strict=True))
    found: list[tuple[int | None, str]] = []
    for index, (number, raw) in enumerate(zip(numbers, raws, strict=True), start=1):
        cut_bytes = run.cut_bytes if index == len(raws) else 0
        found.extend((number, text) for text in _of_line(raw, cut_bytes, words, unwrap, states))
    return found


def _of_line(raw: str, cut_bytes: int, words: Words, unwrap: Unwrap | None, states: int) -> list[str]:
    if unwrap is not None:
        unwrapped = unwrap(raw)
        if unwrapped is None:
            return []
        raw = unwrapped
    kept = [raw]
    if "\r" in raw or "\x1b" in raw or "\x08" in raw or "\x00" in raw:
        reported = shown(raw)
        kept = [*dict.fromkeys(text for text in _overwritten(raw, words, states) if text not in reported), *reported]
    if not cut_bytes and max(map(len, kept)) <= LONGEST_CHARS:
        return kept
    *others, last = kept
    return [*(text[:LONGEST_CHARS] for text in others), *_cut_line(last, cut_bytes, words)]


def _overwritten(raw: str, words: Words, states: int) -> list[str]:
    """What a later state of the line has hidden: the newest `states`, and those that a pattern may know."""
    parts = raw.rstrip("\r").split("\r")[:-1]
    if not parts or not (states or words.flagged(raw.encode())):
        return []
    newest = len(parts) - states
    return [
        text
        for number, part in enumerate(parts)
        if (part and number >= newest) or words.flagged(part.encode())
        for text in shown(part)
    ]


def _cut_line(text: str, cut_bytes: int, words: Words) -> list[str]:
    """Its start with a note of what is left out (`cut_bytes` of it were before), and what stands around words that matter."""
    rest = text[LONGEST_CHARS:].encode()
    excerpts: list[str] = []
    until = 0
    for at in words.flagged(rest):
        if at >= until and len(excerpts) < _MOST_EXCERPTS:
            until = at + _EXCERPT[1]
            excerpts.append(rest[max(0, at - _EXCERPT[0]) : until].decode("utf-8", "replace"))
    left_out = len(rest) + cut_bytes
    note = f" … [{left_out:,} more bytes cut]" if left_out else ""
    return [text[:LONGEST_CHARS] + note, *excerpts]
