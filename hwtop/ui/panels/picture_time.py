"""Of which moment the picture is. Pure; `reducers/time.py` goes from one to another."""

from __future__ import annotations

from hwtop.fields import units
from hwtop.seconds import clock
from hwtop.ui.view import View

EXAMPLES = "14:02  14:02:10  -3m  -1h30m"
"""What can be typed as a time to go to."""


def ago_s(view: View) -> float:
    """How much older the picture is than the newest frame; 0 for that itself."""
    newest = view.past.newest
    return 0.0 if newest is None else max(0.0, newest.derived.time_s - view.frame.derived.time_s)


def is_past(view: View) -> bool:
    """There is a newer frame than the one that is shown, or it is one of a recording."""
    newest = view.past.newest
    if view.playback is not None:
        return True
    return view.is_paused and newest is not None and newest.number != view.frame.number


def words(view: View) -> str:
    """The moment of a paused picture: "14:02:10, 3 min 12 s ago", of a recording without the last."""
    if view.playback is not None:
        return clock(view.frame.derived.time_s)
    return f"{clock(view.frame.derived.time_s)}, {units.duration(round(ago_s(view)))} ago"


def played(view: View) -> str:
    """Of a recording: "▶ 4x 14:02:10", or "‖ 14:02:10" where it does not play."""
    assert view.playback is not None
    state = f"▶ {view.playback.speed:g}x" if view.playback.is_playing else "‖"
    return f"{state} {words(view)}"


def dated(view: View, text: str) -> str:
    """`text` about this picture for somebody else: with its time, where that is not now."""
    return f"at {clock(view.frame.derived.time_s)}: {text}" if is_past(view) else text
