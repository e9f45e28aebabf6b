"""hwtop's own reports in a log: they quote errors and name the words to search for, and are no news of the job. Pure.

The last line of a report names how many lines it has and their checksum. Only what it vouches for is left out, so a report that is
cut short hides nothing, and neither does a last line that was forged before the lines above it were known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

from msgspec.structs import replace

from hwtop.job.log.block import LogBlock, all_lines
from hwtop.job.log.parsed import ParsedLine
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import LogLine

_MARK = "End of hwtop report: "
_IN_JSON = '  "end": "'
_END = lazy_regex(f"(?:{_IN_JSON})?{_MARK}" + r"(\d{1,7}) lines, checksum ([0-9a-f]{8})\b")


def signed(text: str) -> str:
    """A report, which ends with a newline, with its last line."""
    return f"{text}{_end(text)}\n"


def signed_json(text: str) -> str:
    """The text of a JSON object, one key a line, with the last line of a report as the value of `end`."""
    text = text.removesuffix("\n}") + ",\n"
    return f'{text}{_IN_JSON}{_end(text)}"\n}}'


def without_reports(lines: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Lines of one reading, those of one file together, without hwtop's reports that are whole among them."""
    own = _own([line.source for line in lines])
    return [line for number, line in enumerate(lines) if number not in own]


def block_without_reports(block: LogBlock) -> LogBlock:
    """The same of a block: empty lines stand for those left out, so that all keep their numbers."""
    if _MARK.encode() not in block.data:
        return block
    own = _own(list(all_lines(block)))
    lines = block.data.split(b"\n")
    return replace(block, data=b"\n".join(b"" if number in own else line for number, line in enumerate(lines)))


def _end(text: str) -> str:
    lines = text.split("\n")[:-1]
    return f"{_MARK}{len(lines)} lines, checksum {_checksum(lines)}"


def _own(lines: Sequence[LogLine]) -> set[int]:
    """Places of the lines that a last line vouches for, and its own. What a launcher or a logger puts before each line is as long
    before the last one."""
    own: set[int] = set()
    # No report reaches beyond its file, or the last line before: each line is summed once, whatever is forged.
    earliest = 0
    for number, line in enumerate(lines):
        if line.path != lines[earliest].path:
            earliest = number
        found = _END.search(line.text) if _MARK in line.text else None
        if found is None:
            continue
        first = number - int(found[1])
        if first >= earliest and _checksum(each.text[found.start() :] for each in lines[first:number]) == found[2]:
            own.update(range(first, number + 1))
        earliest = min(number + 1, len(lines) - 1)
    return own


def _checksum(lines: Iterable[str]) -> str:
    return f"{crc32(''.join(f'{line.rstrip()}{chr(10)}' for line in lines).encode('utf-8', 'replace')):08x}"
