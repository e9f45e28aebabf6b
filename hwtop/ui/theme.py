"""The own theme. Panels take colours from the roles of `app.tcss`, which use only what every theme has."""

from __future__ import annotations

from textual.theme import Theme

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
