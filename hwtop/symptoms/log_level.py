"""Level of a line, as the grammar of loggers tells it; what the line says does not matter.

Formats: Python's logging and what people make of it, glog and absl (also as torch's C++ prints it), TensorFlow, NCCL, and
`PROGRAM: error: ` as launchers and command-line tools write (GNU coding standards, "Formatting Error Messages").
"""

from __future__ import annotations

import re
from typing import Literal

from hwtop.job.log.text import split_rank

Level = Literal["warning", "error", "fatal"]
_SEARCHED = 160
"""Characters from the start that time, source and level stand in."""
_MOST_WORDS = 10
_WORD = re.compile(r"[\[(|]?(WARN(?:ING)?|ERROR|SEVERE|CRITICAL|FATAL)(?P<end>[\]):|,]?)")
_GLOG = re.compile(r"\[?([WEF])(?:\d{3,4})?")
"""The month is one digit in what torch prints: E321 is March 21."""
_GLOG_NEXT = re.compile(r"\d\d:\d\d:\d\d|[\w./-]+:\d+\]")
_BETWEEN = ("-", "|", ":")
_LEVELS: dict[str, Level] = {"W": "warning", "E": "error", "S": "error", "C": "fatal", "F": "fatal"}


def level_of(text: str) -> Level | None:
    """None for a line below a warning, and for one without a level. NCCL prints its errors as warnings."""
    words = split_rank(text)[1][:_SEARCHED].split()[:_MOST_WORDS]
    has_number = False
    for number, word in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else ""
        if (level := _level(word, after, has_number)) is not None:
            return level
        if number == 0 and word.endswith(":") and after in ("error:", "fatal:"):
            return "error" if after == "error:" else "fatal"
        if (word, after) == ("NCCL", "WARN"):
            return "error"
        if not _is_source(word, after, words[number - 1] if number else ""):
            return None
        has_number = has_number or any(map(str.isdigit, word))
    return None


def _level(word: str, after: str, has_number: bool) -> Level | None:
    """`has_number`: a time or a process number stood before, without which a bare word may be one of a sentence."""
    if (found := _WORD.match(word)) is not None:
        is_bare = not found["end"] and len(word) == found.end()
        is_level = bool(found["end"]) or (is_bare and (has_number or after in _BETWEEN or after.startswith("[")))
        return _LEVELS[found[1][0]] if is_level else None
    found = _GLOG.fullmatch(word)
    return _LEVELS[found[1]] if found is not None and _GLOG_NEXT.match(after) else None


def _is_source(word: str, after: str, before: str) -> bool:
    """Times, process numbers, names of loggers and what divides them; a word of a sentence is none of these."""
    if word in _BETWEEN or word[0] in "[(" or word[-1] in ":]),|" or (word == "NCCL"):
        return True
    return any(map(str.isdigit, word)) or (before in _BETWEEN and after in _BETWEEN)
