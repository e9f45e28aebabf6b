"""The theme that holds without another: dark and calm, so that what is wrong is what shines."""

from __future__ import annotations

from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.tones import Tones

_GROUND, _TITLE, _WAIT, _GOOD = "#11151c", "#7aa2f7", "#d495e7", "#6cd8ac"
RANKS = ("#7aa2f7", "#6fd3c7", "#c792ea", "#8fce7a", "#e69ac4", "#5fb8e8", "#cdb795", "#a9b4f5")

HWTOP = Tones(
    name="hwtop",
    background=_GROUND,
    text="#d8dee9",
    label="#9fb0c9",
    dim="#8793a8",
    border="#46546c",
    track="#5b6a84",
    title=_TITLE,
    accent="#6fc3df",
    wait=_WAIT,
    good=_GOOD,
    faint_good=blend(_GOOD, _GROUND, 0.55),
    warn="#f0d255",
    bad="#ff5f5f",
    panel="#20242b",
    user=blend(_WAIT, _GROUND, 0.85),
    library=blend(_TITLE, _GROUND, 0.28),
    on=_GROUND,
    bad_ground="#ff5f5f",
    on_bad=_GROUND,
    ranks=RANKS,
)
