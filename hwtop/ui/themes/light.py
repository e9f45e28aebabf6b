"""For a bright room: dark letters on white."""

from __future__ import annotations

from hwtop.ui.themes.contrast import blend
from hwtop.ui.themes.tones import Tones

_GROUND, _TITLE, _WAIT, _GOOD = "#f8f9fb", "#2455d6", "#8a4a86", "#007d68"
RANKS = ("#1f5fc4", "#00756a", "#7b2fb5", "#2e7a32", "#ad2c78", "#01669e", "#7a5c2e", "#4a4fc4")

LIGHT = Tones(
    name="light",
    is_dark=False,
    background=_GROUND,
    text="#20242b",
    label="#404b5e",
    dim="#5a6475",
    border="#a3adbd",
    track="#8590a3",
    title=_TITLE,
    accent="#00718f",
    wait=_WAIT,
    good=_GOOD,
    faint_good=blend(_GOOD, _GROUND, 0.76),
    warn="#8a5600",
    bad="#a8003c",
    panel="#e9ebee",
    user=_WAIT,
    library=blend(_TITLE, _GROUND, 0.2),
    on=_GROUND,
    bad_ground="#a8003c",
    on_bad=_GROUND,
    ranks=RANKS,
)
