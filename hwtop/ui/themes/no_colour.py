"""Where colours are not wanted (`--no-color`, NO_COLOR): the terminal's own two, bold, dim, underline and reverse."""

from __future__ import annotations

from hwtop.ui.themes.tones import Tones

_ONE = "ansi_default"

NO_COLOUR = Tones(
    name="no-colour",
    is_ansi=True,
    background=_ONE,
    text=_ONE,
    label=_ONE,
    dim=_ONE,
    border=_ONE,
    track=_ONE,
    title=_ONE,
    accent=_ONE,
    wait=_ONE,
    good=_ONE,
    faint_good=_ONE,
    warn=_ONE,
    bad=_ONE,
    panel=_ONE,
    user=_ONE,
    library=_ONE,
    on=_ONE,
    bad_ground=_ONE,
    on_bad=_ONE,
    ranks=(_ONE,) * 8,
    band_style="bold reverse",
    user_style="bold underline",
    library_style="underline",
    quiet_style="dim",
)
