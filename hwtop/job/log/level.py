"""Level of a line, as the grammar of loggers tells it; what the line says does not matter. Pure.

Formats: Python's logging and what people make of it, glog and absl (also as torch's C++ prints it), TensorFlow, NCCL, logfmt and JSON, and
`PROGRAM: error: ` as launchers and command-line tools write (GNU coding standards, "Formatting Error Messages").
"""

from __future__ import annotations

import re

from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import LogLevel

SEARCHED = 160
"""Characters from the start that time, source and level stand in; engineering default."""
_MOST_WORDS = 10
NAMES = "TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN(?:ING)?|ERROR|SEVERE|CRITICAL|FATAL"
_WORD = lazy_regex(rf"[\[(|]?({NAMES})(?P<end>[\]):|,]?)")
_PADDED = lazy_regex(rf"({NAMES}) {{2,}}\S")
"""At the start of a line: a column of its own, as Rich prints it."""
_BOXED = lazy_regex(rf"\[({NAMES})\]", re.IGNORECASE)
_FIELD = lazy_regex(rf"\blevel[\"']?\s?[=:]\s?[\"']?({NAMES})\b", re.IGNORECASE)
_SPOKEN = lazy_regex(r"(warning|error|fatal|critical):")
GLOG_DAY = r"\d{3,4}"
"""The month is one digit in what torch prints: E321 is March 21."""
_GLOG = lazy_regex(rf"\[?([IWEFD])(?:{GLOG_DAY})?")
_GLOG_NEXT = lazy_regex(r"\d\d:\d\d:\d\d|[\w./-]+:\d+\]|\w+/\w+")
_BETWEEN = ("-", "|", ":")
_LEVELS: dict[str, LogLevel] = {
    "t": "debug", "d": "debug", "i": "info", "n": "info", "w": "warning", "e": "error", "c": "critical", "f": "critical",
    "su": "info", "se": "error",
}  # fmt: skip
"""First letter of a level's name, or the first two."""


def level_of(said: str) -> LogLevel | None:
    """Of a line without its launcher's prefix; None for one without a level. NCCL prints its errors as warnings."""
    head = said[:SEARCHED]
    if (padded := _PADDED.match(head)) is not None:
        return _named(padded[1])
    words = head.split()[:_MOST_WORDS]
    has_number = False
    for number, word in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else ""
        if (level := _level(word, after, has_number)) is not None:
            return level
        if (spoken := _spoken(number, word, after)) is not None:
            return spoken
        if (word, after) == ("NCCL", "WARN"):
            return "error"
        if not _is_source(word, after, words[number - 1] if number else ""):
            break
        has_number = has_number or any(map(str.isdigit, word))
    field = _FIELD.search(head)
    return _named(field[1]) if field else None


def _level(word: str, after: str, has_number: bool) -> LogLevel | None:
    """`has_number`: a time or a process number stood before, without which a bare word may be one of a sentence."""
    if (boxed := _BOXED.fullmatch(word)) is not None:
        return _named(boxed[1])
    if (found := _WORD.match(word)) is not None:
        is_bare = not found["end"] and len(word) == found.end()
        is_level = bool(found["end"]) or (is_bare and (has_number or after in _BETWEEN or after.startswith("[")))
        return _named(found[1]) if is_level else None
    found = _GLOG.fullmatch(word)
    return _named(found[1]) if found is not None and _GLOG_NEXT.match(after) else None


def _spoken(number: int, word: str, after: str) -> LogLevel | None:
    """`error: text`, `PROGRAM: error: text`."""
    if number == 0 and (found := _SPOKEN.fullmatch(word)) is not None and after[:1].isalpha():
        return _named(found[1])
    is_program = number == 0 and word.endswith(":")
    return _named(found[1]) if is_program and (found := _SPOKEN.fullmatch(after)) is not None else None


def _named(name: str) -> LogLevel:
    return _LEVELS.get(name[:2].lower()) or _LEVELS[name[0].lower()]


def _is_source(word: str, after: str, before: str) -> bool:
    """Times, process numbers, names of loggers and what divides them; a word of a sentence is none of these."""
    if word in _BETWEEN or word[0] in "[(" or word[-1] in ":]),|" or word == "NCCL":
        return True
    return any(map(str.isdigit, word)) or (before in _BETWEEN and after in _BETWEEN)
