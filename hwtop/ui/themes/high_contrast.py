"""For tired or weak eyes and bad projectors: all text at least 7:1 (WCAG 2.2, level AAA), nothing faint."""

from __future__ import annotations

from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.tones import Tones

_GROUND, _TITLE, _WAIT, _GOOD = "#000000", "#9cc9ff", "#ffa6e6", "#3fe0ac"

HIGH_CONTRAST = Tones(
    name="high-contrast",
    background=_GROUND,
    text="#ffffff",
    label="#e4e4e4",
    dim="#c8c8c8",
    border="#a8a8a8",
    track="#909090",
    title=_TITLE,
    accent="#7fe3ff",
    wait=_WAIT,
    good=_GOOD,
    faint_good=blend(_GOOD, _GROUND, 0.8),
    warn="#fff03a",
    bad="#ff7a5c",
    panel="#262626",
    user=_WAIT,
    library="#1d3a5c",
    on=_GROUND,
    bad_ground="#ff7a5c",
    on_bad=_GROUND,
    ranks=("#9cc9ff", "#7fe6d8", "#dcb8ff", "#b4f09a", "#ffb3de", "#86d6ff", "#e6d3b0", "#b7a9ff"),
)
