"""Log block: a large piece of a log file as raw bytes. LogLines are made only of those lines that someone wants to see."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.job.log.text import clean, plain
from hwtop.model.reported.log import LogLine

LONGEST_CHARS = 16_384
"""Of a line; the rest is not looked at (engineering default: a torch OOM message has 700, a dumped configuration 10,000)."""


class LogBlock(Struct, frozen=True, kw_only=True):
    """Whole lines of one file, or a part of one endless line of bar states that ends with a carriage return."""

    path: str
    line_no: int
    """Of the first line, counted from 1."""
    data: bytes
    """Without escape sequences; a carriage return stands where a bar was drawn anew."""
    cut_lines: int = 0
    """Lines of this block that were longer than is looked at."""
    cut_bytes: int = 0
    """What was left out of them."""


def block_of(path: str, line_no: int, raw: bytes, lost_bytes: int = 0) -> LogBlock:
    """The block of these raw lines. `lost_bytes`: what the reader has left out of the first of them already."""
    data = plain(raw)
    lines, left_out = _too_long(data)
    return LogBlock(
        path=path,
        line_no=line_no,
        data=data,
        cut_lines=max(lines, 1) if lost_bytes else lines,
        cut_bytes=left_out + lost_bytes,
    )


def line_at(block: LogBlock, ordinal: int, start: int, end: int) -> LogLine:
    """The text from `start` to `end`, which stands `ordinal` lines below the first one, as a terminal would show it."""
    text = clean(block.data[start : min(end, start + 4 * LONGEST_CHARS)].decode("utf-8", "replace"))[:LONGEST_CHARS]
    return LogLine(path=block.path, line_no=block.line_no + ordinal, text=text, at_s=0.0, is_past=True)


def all_lines(block: LogBlock) -> Iterator[LogLine]:
    """Every line of the block; of a bar the last state."""
    start = ordinal = 0
    while start < len(block.data):
        end = block.data.find(b"\n", start)
        end = len(block.data) if end < 0 else end
        yield line_at(block, ordinal, _last_states(block.data, start, end), end)
        start, ordinal = end + 1, ordinal + 1


def _last_states(data: bytes, start: int, end: int) -> int:
    """Where to begin in a line: of a very long one with bars, the last states count, else its start."""
    newest = max(start, end - 4 * LONGEST_CHARS)
    return newest if data.find(b"\r", newest, end) >= 0 else start


def _too_long(data: bytes) -> tuple[int, int]:
    """(lines longer than LONGEST_CHARS, their bytes beyond it). Steps from line end to line end as far as it can see."""
    lines = left_out = start = 0
    while len(data) - start > LONGEST_CHARS:
        end = data.rfind(b"\n", start, start + LONGEST_CHARS + 1)
        if end < 0:
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            beyond = 0 if b"\r" in data[start:end] else _beyond(data[start:end])
            lines, left_out = lines + (beyond > 0), left_out + beyond
        start = end + 1
    return lines, left_out


def _beyond(line: bytes) -> int:
    text = line.decode("utf-8", "replace")
    return len(text[LONGEST_CHARS:].encode())
