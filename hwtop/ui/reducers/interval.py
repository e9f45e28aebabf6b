"""How often the machine is looked at: what the keys choose from. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.ui.view import View

_INTERVALS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


def stepped(view: View, step: int) -> View:
    """The next longer (1) or shorter (-1) interval, or a word that there is none."""
    now_s = view.interval_s or view.frame.derived.interval_s
    further = [each for each in _INTERVALS_S if (each > now_s if step > 0 else each < now_s)]
    if not further:
        return replace(view, note=f"{now_s:g} s is the {'longest' if step > 0 else 'shortest'} interval")
    chosen_s = further[0 if step > 0 else -1]
    return replace(view, interval_s=chosen_s, note=f"looking every {chosen_s:g} s")
