"""Colours for a browser, which has none of a terminal's own: what it shows for those that a terminal is told by number."""

from __future__ import annotations

from rich.color import Color
from rich.terminal_theme import MONOKAI

INK, GROUND = MONOKAI.foreground_color.hex, MONOKAI.background_color.hex
"""Where nothing is told."""


def colour(parameters: str) -> str:
    """ "38;2;1;2;3", "48;5;7", "31" or "107" as "#rrggbb"; "" where it is the default."""
    numbers = [int(number) for number in parameters.split(";")] if parameters else [39]
    if numbers[0] in (38, 48) and len(numbers) == 5:
        return "#{:02x}{:02x}{:02x}".format(*numbers[2:])
    if numbers[0] in (38, 48):
        ansi = numbers[2]
    elif numbers[0] in (39, 49):
        return ""
    else:
        ansi = numbers[0] % 10 + (8 if numbers[0] >= 90 else 0)
    return Color.from_ansi(ansi).get_truecolor(MONOKAI).hex
