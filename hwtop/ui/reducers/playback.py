"""A recording is played: a view and what was pressed, or how much time has passed, in; a view out. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.ui import past
from hwtop.ui.playback import SPEEDS, Playback
from hwtop.ui.reducers import time
from hwtop.ui.view import View


def is_playing(view: View) -> bool:
    """Whether the picture moves by itself."""
    return view.playback is not None and view.playback.is_playing


def toggled(view: View) -> View:
    """It plays, from the start where it was at the end, or stops."""
    playback = _of(view)
    if playback.is_playing:
        return replace(view, playback=replace(playback, is_playing=False))
    if _is_at_end(view) and view.past.is_whole:
        view = time.shown(view, 0)
    return replace(view, playback=replace(playback, is_playing=True, ahead_s=0.0))


def faster(view: View, step: int) -> View:
    """The next higher (1) or lower (-1) speed."""
    playback = _of(view)
    place = SPEEDS.index(playback.speed) + step
    if not 0 <= place < len(SPEEDS):
        return replace(view, note=f"{playback.speed:g}x is the {'highest' if step > 0 else 'lowest'} speed")
    return replace(view, playback=replace(playback, speed=SPEEDS[place]), note=f"speed {SPEEDS[place]:g}x")


def passed(view: View, seconds: float) -> View:
    """The view so much later; the same where it does not play. Times at which nothing was sampled are skipped."""
    playback = view.playback
    if playback is None or not playback.is_playing:
        return view
    ahead_s, kept = playback.ahead_s + seconds * playback.speed, view.past.kept
    first = place = past.place_of(view.past, view.frame.number)
    while place + 1 < len(kept) and ahead_s >= (apart_s := past.spacing_s(view.past, place + 1)):
        ahead_s -= max(0.0, apart_s)  # the clock may have been set back
        place += 1
    if place != first:
        view = time.shown(view, place)
    if not _is_at_end(view):
        return replace(view, playback=replace(playback, ahead_s=ahead_s))
    return replace(view, playback=replace(playback, is_playing=not view.past.is_whole, ahead_s=0.0))


def _is_at_end(view: View) -> bool:
    return view.frame.number == view.past.kept[-1].number


def _of(view: View) -> Playback:
    assert view.playback is not None
    return view.playback
