"""Themes that people know from elsewhere (nord, gruvbox, dracula, ...): the toolkit's, each tone moved until it can be read."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES

from hwtop.ui.themes import hwtop, light
from hwtop.ui.themes.contrast import MARK, TEXT, blend, legible
from hwtop.ui.themes.tones import Tones

_EDGE = 2.0
"""Contrast of frames, which only group."""
_TEXT, _MARK = TEXT + 0.1, MARK + 0.1
"""The toolkit rounds colours on their way to the screen."""

NAMES = tuple(sorted(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi))
"""Without those of the terminal's own colours, which say nothing of how they look."""


def borrow(name: str) -> Tones:
    """The tones of the toolkit's theme of this name, one of NAMES."""
    theme = BUILTIN_THEMES[name]
    given = {key: tone.lower() for key, tone in theme.to_color_system().generate().items()}
    ground = given["background"]

    def tone(key: str) -> str:
        return legible(given[key], ground, _TEXT)

    title, good = tone("primary"), tone("success")
    library = blend(title, ground, 0.2)
    text = legible(given["foreground"], library, _TEXT)
    panel = blend(text, ground, 0.08)
    wait = tone("accent" if given["secondary"] in (given["error"], given["warning"]) else "secondary")
    ranks = hwtop.RANKS if theme.dark else light.RANKS
    return Tones(
        name=name,
        is_dark=theme.dark,
        background=ground,
        text=text,
        label=legible(blend(text, ground, 0.8), panel, _TEXT),
        dim=legible(blend(text, ground, 0.6), ground, _TEXT),
        border=legible(blend(text, ground, 0.25), ground, _EDGE),
        track=legible(blend(text, ground, 0.3), ground, _MARK),
        title=title,
        accent=tone("accent"),
        wait=wait,
        good=good,
        faint_good=legible(blend(good, ground, 0.6), ground, _MARK),
        warn=tone("warning"),
        bad=tone("error"),
        panel=panel,
        user=wait,
        library=library,
        on=ground,
        bad_ground=tone("error"),
        on_bad=ground,
        ranks=tuple(legible(rank, ground, _TEXT) for rank in ranks),
    )
