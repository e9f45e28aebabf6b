"""The own theme. Panels take colours from the roles of `app.tcss`, which use only what every theme has."""

from __future__ import annotations

from textual.theme import Theme

_RANKS_ON_DARK = ("#7aa2f7", "#6fd3c7", "#c792ea", "#8fce7a", "#e69ac4", "#5fb8e8", "#cdb795", "#a9b4f5")
_RANKS_ON_LIGHT = ("#1f5fc4", "#00796b", "#7b2fb5", "#2e7d32", "#ad2c78", "#01669e", "#7a5c2e", "#4a4fc4")
"""Beside each other they differ in hue; none is a warning's yellow or an error's red."""


def rank_tones(*, is_dark: bool) -> dict[str, str]:
    """The colours of the ranks' numbers, for themes of either kind."""
    tones = _RANKS_ON_DARK if is_dark else _RANKS_ON_LIGHT
    return {f"hwtop-rank-{number}": tone for number, tone in enumerate(tones)}


HWTOP = Theme(
    name="hwtop",
    primary="#7aa2f7",
    secondary="#b99cf0",
    accent="#6fc3df",
    foreground="#d8dee9",
    background="#11151c",
    surface="#11151c",
    panel="#1b2230",
    success="#7fd491",
    warning="#f0c060",
    error="#ff7373",
    dark=True,
    variables={
        "hwtop-dim": "#8793a8",
        "hwtop-label": "#9fb0c9",
        "hwtop-border": "#3d4a60",
        "hwtop-track": "#364156",
    },
)
