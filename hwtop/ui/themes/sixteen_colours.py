"""For terminals that know sixteen colours only, as the Linux console does. How these look is the terminal's choice, so a ground is
named, too: what is legible on black need not be so on the terminal's own.

Blue, dark red, magenta and bright black are under 4.5:1 on black in common palettes: no text has them. Black letters are
never bold, because many terminals draw bold black as dark grey. The Linux console draws a bright ground as its dark one, where
white stays legible on red alone.
"""

from __future__ import annotations

from rich.terminal_theme import TerminalTheme

from hwtop.ui.themes.tones import Tones

VGA = TerminalTheme(
    (0, 0, 0),
    (170, 170, 170),
    [(0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170)],
    [
        (85, 85, 85),
        (255, 85, 85),
        (85, 255, 85),
        (255, 255, 85),
        (85, 85, 255),
        (255, 85, 255),
        (85, 255, 255),
        (255, 255, 255),
    ],
)
"""What the sixteen are on the Linux console, and in pictures."""

SIXTEEN_COLOURS = Tones(
    name="16-colours",
    is_ansi=True,
    background="ansi_black",
    text="ansi_bright_white",
    label="ansi_white",
    dim="ansi_white",
    border="ansi_bright_black",
    track="ansi_white",
    title="ansi_bright_cyan",
    accent="ansi_bright_cyan",
    wait="ansi_bright_magenta",
    good="ansi_bright_green",
    faint_good="ansi_green",
    warn="ansi_bright_yellow",
    bad="ansi_bright_red",
    panel="ansi_black",
    user="ansi_bright_green",
    library="ansi_blue",
    on="ansi_black",
    bad_ground="ansi_red",
    on_bad="ansi_bright_white",
    ranks=(
        "ansi_bright_cyan",
        "ansi_bright_magenta",
        "ansi_bright_green",
        "ansi_white",
        "ansi_cyan",
        "ansi_bright_white",
        "ansi_green",
        "ansi_bright_magenta",
    ),
    band_style="none",
    user_style="none",
)
