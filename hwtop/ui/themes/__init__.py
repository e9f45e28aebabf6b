"""Themes by name. Nothing else in `ui/` names a colour."""

from __future__ import annotations

from hwtop.errors import UsageError
from hwtop.suggestion import one_of
from hwtop.ui.themes import borrowed
from hwtop.ui.themes.colour_blind import COLOUR_BLIND
from hwtop.ui.themes.high_contrast import HIGH_CONTRAST
from hwtop.ui.themes.hwtop import HWTOP
from hwtop.ui.themes.light import LIGHT
from hwtop.ui.themes.no_colour import NO_COLOUR
from hwtop.ui.themes.sixteen_colours import SIXTEEN_COLOURS
from hwtop.ui.themes.tones import Tones

AUTO = "auto"
"""As the terminal is: "hwtop", "light" where its ground is, or "16-colours" where it knows no more."""
OWN = {tones.name: tones for tones in (HWTOP, LIGHT, HIGH_CONTRAST, COLOUR_BLIND, SIXTEEN_COLOURS, NO_COLOUR)}
NAMES = (*OWN, *borrowed.NAMES)
"""The own ones first."""


def tones(name: str) -> Tones:
    """The theme called `name`, one of NAMES."""
    return OWN[name] if name in OWN else borrowed.borrow(name)


def check(name: str) -> None:
    """Find out early whether there is such a theme.

    Raises:
        UsageError: there is none.
    """
    if name not in (AUTO, *NAMES):
        raise UsageError(f"no theme {name[:40]!r}: {one_of(name, (AUTO, *NAMES))}")


def fitting(name: str, color_system: str | None, *, is_light: bool = False) -> str:
    """What AUTO means on a terminal with `color_system`, the toolkit's word for what TERM and COLORTERM tell ("standard" =
    sixteen colours, None = next to nothing), whose ground is light or dark; any other name means itself."""
    if name != AUTO:
        return name
    if color_system in ("standard", None):
        return SIXTEEN_COLOURS.name
    return LIGHT.name if is_light else HWTOP.name
