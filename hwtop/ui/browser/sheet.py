"""Sheet: what stands in a browser's tab, as cells; it knows which rows the tab has not got yet.

Rows are taken when the tab can take them. However slow it is, nothing queues up: a row that changed five times meanwhile is
sent once, as it is then.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from hwtop.ui.terminal.diff_writer import Cell, Piece, Style
from hwtop.ui.themes import browser
from hwtop.ui.widgets.text import cells

Run = tuple[str, int, str, str, str]
"""Text, cells, colour of the text, colour behind it ("#rrggbb", "" = that of the page), and letters: b(old), d(im), i(talic),
u(nderlined), s(truck through)."""
Row = tuple[int, list[Run]]
"""Its number from the top, and all that stands in it."""

_BLANK: Cell = (" ", ())
_LETTERS = {"1": "b", "2": "d", "3": "i", "4": "u", "9": "s"}
_REVERSE = "7"


class Sheet:
    """Rows of cells. A wide character has its cell and an empty one."""

    def __init__(self, width: int, height: int) -> None:
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Blank, in this size."""
        self.width, self.height = width, height
        self._rows = [[_BLANK] * width for _ in range(height)]
        self._changed = set(range(height))

    def draw(self, drawn: list[Piece]) -> None:
        """Take these in."""
        for row, column, text, style in drawn:
            if 0 < row <= self.height:
                self._put(row - 1, column - 1, text, style)

    def take(self) -> list[Row]:
        """The rows that have changed since the last call."""
        taken = [(number, list(_runs(self._rows[number]))) for number in sorted(self._changed)]
        self._changed.clear()
        return taken

    def _put(self, number: int, column: int, text: str, style: Style) -> None:
        row = self._rows[number]
        for character in text:
            width = cells(character)
            new = [(character, style), *[("", style)] * (width - 1)]
            if width == 0 and column > 0:  # it belongs to the character before
                column, new, width = column - 1, [(row[column - 1][0] + character, style)], 1
            if column + width > self.width:
                return
            if row[column : column + width] != new:
                row[column : column + width] = new
                self._changed.add(number)
            column += width


def _runs(row: list[Cell]) -> Iterator[Run]:
    """Cells of one look at a time; a character that is not exactly one cell stands alone."""
    characters: list[Run] = []
    for text, style in row:
        if text:
            characters.append((text, 1, *look(style)))
        elif characters:  # the second cell of a wide one
            last, width, *its_look = characters[-1]
            characters[-1] = (last, width + 1, its_look[0], its_look[1], its_look[2])
    for (is_plain, *_), group in groupby(characters, key=lambda one: (len(one[0]) == one[1], *one[2:])):
        if is_plain:
            same = list(group)
            yield ("".join(one[0] for one in same), len(same), *same[0][2:])
        else:
            yield from group


@lru_cache(maxsize=1024)
def look(style: Style) -> tuple[str, str, str]:
    """Colour of the text, colour behind it, letters (see Run)."""
    kinds = dict(style)
    ink, ground = browser.colour(kinds.get("fg", "")), browser.colour(kinds.get("bg", ""))
    letters = "".join(letter for kind, letter in _LETTERS.items() if kind in kinds)
    if _REVERSE in kinds:
        ink, ground = ground or browser.GROUND, ink or browser.INK
    return ink, ground, letters
