"""For eyes without one of the three kinds of cones: good is blue, not green. The hues are those of Okabe and Ito (2008,
"Color Universal Design"), their lightness moved for a dark ground."""

from __future__ import annotations

from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.tones import Tones

_GROUND, _TITLE, _WAIT, _GOOD = "#11151c", "#cfe0fb", "#cf92c4", "#6ba3fe"

COLOUR_BLIND = Tones(
    name="colour-blind",
    background=_GROUND,
    text="#e2e7ef",
    label="#b3bccb",
    dim="#8f99aa",
    border="#46546c",
    track="#5b6a84",
    title=_TITLE,
    accent="#2fd69c",
    wait=_WAIT,
    good=_GOOD,
    faint_good=blend(_GOOD, _GROUND, 0.6),
    warn="#f5e642",
    bad="#d8713f",
    panel="#20242b",
    user=_WAIT,
    library="#24405f",
    on=_GROUND,
    bad_ground="#d8713f",
    on_bad=_GROUND,
    ranks=("#6ba3fe", "#2fd69c", "#cf92c4", "#9fd0f5", "#8f99aa", "#dfe5ee", "#4fa88a", "#a98fd0"),
)
"""Neighbours among the ranks differ in lightness, which all eyes see."""
