"""Text from the machine made safe and cut to cells: nothing in it is ever interpreted, no character breaks a row."""

from __future__ import annotations

import unicodedata
from itertools import accumulate, takewhile

from rich.cells import cell_len, set_cell_size

from hwtop.lazy_regex import lazy_regex

ELLIPSIS = "…"

_ASCII = str.maketrans(
    {
        **dict.fromkeys("╭╮╰╯└┬┴├┤┼╷╵", "+"),
        **dict.fromkeys("─╌", "-"),
        **dict.fromkeys("│┃▏▎▍", "|"),
        **dict.fromkeys("━╸█▉▊▋■", "#"),
        **dict.fromkeys("·–—", "-"),
        **dict.fromkeys("═‖", "="),
        **dict.fromkeys("▪◇", "*"),
        **dict.fromkeys("▁▂", "_"),
        **dict.fromkeys("▃▄", "-"),
        **dict.fromkeys("▅▆", "="),
        **dict.fromkeys("“”", '"'),
        "▇": "#",
        "‹": "<",
        "›": ">",
        "²": "2",
        "µ": "u",
        "▌": "[",
        "┅": "~",
        "┈": ".",
        "○": ".",
        "◆": "&",
        "◐": "%",
        "⋮": ":",
        "←": "<",
        "…": "~",
        **dict.fromkeys("▸▶", ">"),
        "→": ">",
        "✖": "X",
        "▲": "!",
        "▼": "v",
        "●": "o",
        "✔": "+",
        "◌": "~",
        "•": "*",
        "×": "x",
        "↓": "v",
        "↑": "^",
        "°": " ",
    }
)


_MARKS = ":;,"
_PAST = "; before: "
"""What follows it is about the past (`hwtop.symptoms.verdict`), and must not become the present where it is cut away itself."""
_CLAUSE_END = lazy_regex(rf"(?<=[{_MARKS}]) (?![^()]*\))")
"""Not between brackets."""
_BRACKETS = lazy_regex(r" \([^()]*\)")
_SELECTORS = dict.fromkeys(range(0xFE00, 0xFE10))
"""Choose between two looks of a character; terminals do not agree on how wide that makes it."""


def visible(text: str) -> str:
    """`text` with every control, format and private character shown as a visible one ("\\x1b" becomes "␛"), variation
    selectors left out."""
    if not text.isascii():
        text = text.translate(_SELECTORS)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if character == "\t" or unicodedata.category(character) == "Zs":
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


def to_ascii(text: str) -> str:
    """The same number of cells in plain ASCII; trends keep their height, what has no stand-in becomes "?"."""
    if text.isascii():
        return text
    return "".join(_ascii_of(character) for character in text.translate(_ASCII))


def _ascii_of(character: str) -> str:
    if character.isascii():
        return character
    code = ord(character)
    if 0x2800 <= code <= 0x28FF:
        dots = code - 0x2800
        rows = (0x09, 0x12, 0x24, 0xC0)  # the two dots of each row, top row first
        height = next((4 - row for row, mask in enumerate(rows) if dots & mask), 0)
        return " _-=#"[height]
    return "?" * cell_len(character)


def cells(text: str) -> int:
    """Width of `text` on the screen."""
    return len(text) if text.isascii() else cell_len(text)


def cropped(text: str, width: int) -> str:
    """`text` without what is behind the first `width` cells."""
    return text if cells(text) <= width else set_cell_size(text, width)


def fit(text: str, width: int, *, align: str = "left") -> str:
    """`text` in exactly `width` cells, its end left out where it is too long."""
    return _padded(elide_end(text, width), width, align)


def elide_end(text: str, width: int) -> str:
    """`text` in at most `width` cells; what is left out is at the end."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS


def tail(text: str, width: int) -> str:
    """As much of the end of `text` as `width` cells hold: where one types."""
    shown = visible(text)
    while shown and cells(shown) > width:
        shown = shown[1:]
    return shown


def elide_middle(text: str, width: int) -> str:
    """`text` in at most `width` cells; both ends stay, as names and paths differ at their ends."""
    if cells(text) <= width:
        return text
    if width < 5:
        return elide_end(text, width)
    tail_cells = (width - 1) // 2
    head = set_cell_size(text, width - 1 - tail_cells).rstrip()
    tail = ""
    for character in reversed(text):
        if cells(character + tail) > tail_cells:
            break
        tail = character + tail
    return head + ELLIPSIS + tail


def elide_path(path: str, width: int) -> str:
    """`path` in at most `width` cells: as many of its last parts as fit, as the file name says most."""
    if cells(path) <= width:
        return path
    parts = path.split("/")
    for first in range(1, len(parts)):
        shown = f"{ELLIPSIS}/{'/'.join(parts[first:])}"
        if cells(shown) <= width:
            return shown
    return elide_middle(parts[-1], width)


_NAMED = 3
"""Words that name somebody and say that he is or does something."""


def elide_clauses(text: str, width: int) -> str:
    """`text` in at most `width` cells. Its last clause stays whole where it leaves room for a beginning: a sentence that names many and
    then the odd one must not lose the odd one. What is in brackets is left out before a clause is cut, and never cut itself."""
    if cells(text) <= width:
        return text
    cut = _cut(text, width)
    now, has_past, past = text.partition(_PAST)
    if not has_past or "before:" in cut:
        return cut
    both = f"{_BRACKETS.sub('', now)}{ELLIPSIS} before: {_CLAUSE_END.split(past)[-1]}"
    return both if cells(both) <= width else elide_clauses(now, width)


def _cut(text: str, width: int) -> str:
    *clauses, last = _CLAUSE_END.split(text)
    bare, once = _BRACKETS.sub("", text), _said_once(text, last)
    for shorter, end in (
        (" ".join([*(_BRACKETS.sub("", clause) for clause in clauses), last]), once),
        (bare, _BRACKETS.sub("", once)),
    ):
        if cells(shorter) <= width:
            return shorter
        if (cut := _whole_clauses(shorter, width, is_first_whole=True)) is not None:
            return cut
        short = f"{_BRACKETS.sub('', clauses[0]).rstrip(_MARKS)}{ELLIPSIS} {end}" if clauses and end else text
        if cells(short) <= width:
            return short
    return _whole_clauses(text, width) or _whole_clauses(bare, width) or _elide_words(text, width)


def _said_once(text: str, last: str) -> str:
    """The last clause without what the text begins with as well: "in f" of "Rank 3 is missing ..., rank 3 is in f"; else ""."""
    first, words = text.casefold().split(), last.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1].casefold(), zip(first, words, strict=False)))
    return " ".join(words[same:]) if _NAMED <= same < len(words) else ""


def _whole_clauses(text: str, width: int, *, is_first_whole: bool = False) -> str | None:
    """The last clause and those before it that fit, the first one at least in part, the next one where much room is left; None where there
    is no room for that."""
    *clauses, last = _CLAUSE_END.split(text)
    room = width - cells(last) - 2
    if not clauses or room < max(8, width // 4):
        return None
    whole = list(takewhile(lambda head: cells(head) <= room, accumulate(clauses, "{} {}".format)))
    if is_first_whole and not whole:
        return None
    is_roomy = bool(whole) and room - cells(whole[-1]) >= width // 6
    cut = " ".join(clauses) if is_roomy else clauses[0]
    words = list(takewhile(lambda head: cells(head) <= room, accumulate(cut.split(), "{} {}".format)))
    kept = max([*words, *whole], key=len) if words else elide_end(clauses[0], room)
    return f"{_closed(kept).rstrip(_MARKS + ELLIPSIS)}{ELLIPSIS} {last}"


def _elide_words(text: str, width: int) -> str:
    """`text` in at most `width` cells; both ends stay, in whole words where these are short enough."""
    words, tail, head = text.split(), "", ""
    while words and cells(f"{words[-1]} {tail}".rstrip()) <= (width - 2) // 2:
        tail = f"{words.pop()} {tail}".rstrip()
    room = width - 2 - cells(tail)
    while words and cells(f"{head} {words[0]}".lstrip()) <= room:
        head = f"{head} {words.pop(0)}".lstrip()
    head, tail = _closed(head), _opened(tail)
    if head and tail:
        return f"{head}{ELLIPSIS} {tail}"
    return f"{head}{ELLIPSIS}" if head else elide_middle(text, width)


def _closed(head: str) -> str:
    """Without a bracket that is not closed in it."""
    return head[: head.rindex("(")].rstrip() if head.count("(") > head.count(")") else head


def _opened(tail: str) -> str:
    """Without the end of a bracket that begins before it."""
    return tail[tail.index(")") + 1 :].lstrip() if tail.count(")") > tail.count("(") else tail


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells, broken between words where possible."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if cells(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        line = elide_middle(word, width)
    return [*lines, line] if line else lines


def _padded(text: str, width: int, align: str) -> str:
    room = " " * max(0, width - cells(text))
    return room + text if align == "right" else text + room
