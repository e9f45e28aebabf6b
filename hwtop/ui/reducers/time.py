"""Back and forth in time: a view and where to go in, a view on the frame of that moment out. Pure.

There is one way of standing still: the view holds a frame while newer ones come. A held picture is one of the past as soon
as there is a newer one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from msgspec.structs import replace

from hwtop.model.frame import Frame
from hwtop.seconds import clock, meant_s
from hwtop.ui import past
from hwtop.ui.panels import picker, picture_time
from hwtop.ui.reducers import logs
from hwtop.ui.tables.filter import edited
from hwtop.ui.view import View

Pressed = Literal["pause", "step-back", "step-on", "turn-back", "turn-on", "ask"]
_FAR_S = 60.0
"""A picture so far from the time that was asked for is told to be another one; engineering default."""


def pressed(view: View, what: Pressed) -> View:
    """The view after this key."""
    return _MOVES[what](replace(view, note=""))


def arrived(view: View, frame: Frame) -> View:
    """A newer frame has come: it is shown, or only kept while the picture is held."""
    view = replace(view, past=past.with_frame(view.past, frame))
    return view if view.is_paused else picker.settled(logs.with_frame(view, frame))


def paused(view: View) -> View:
    """The picture stands still, or goes on where it stood."""
    return live(view) if view.is_paused else replace(view, is_paused=True)


def live(view: View) -> View:
    """The newest frame, and each that comes. A recording has no such: its last frame."""
    if view.playback is not None:
        return shown(replace(view, time_typed=None), len(view.past.kept) - 1)
    newest = view.past.newest
    view = replace(view, is_paused=False, time_typed=None)
    return view if newest is None else logs.with_frame(view, newest)


def stepped(view: View, step: int) -> View:
    """The picture before (-1) or after (1); after the newest one it goes on by itself."""
    place = past.place_of(view.past, view.frame.number)
    if step > 0:
        is_last = place + step >= len(view.past.kept)
        return live(view) if is_last else shown(view, place + step)
    is_kept = place >= 0 and view.past.kept[place].number == view.frame.number
    return shown(view, place + step if is_kept else place)


def turned(view: View, step: int) -> View:
    """The moment before (-1) or after (1) at which a finding came or went; after the last one back to now."""
    number = view.frame.number
    turns = [
        place
        for place, each in enumerate(view.past.kept)
        if each.is_turn and (each.number > number if step > 0 else each.number < number)
    ]
    if turns:
        return shown(view, turns[0 if step > 0 else -1])
    note = f"no finding appeared or cleared {'after' if step > 0 else 'before'} this moment"
    if step > 0 and view.playback is None:
        return replace(live(view), note=f"{note}: this is now") if view.is_paused else live(view)
    return replace(view, note=f"{note}, as far as it is loaded" if step > 0 and _is_loading(view) else note)


def shown(view: View, place: int) -> View:
    """The kept frame at this place; the oldest where that lies before it."""
    if not view.past.kept:
        return view
    if place < 0:
        first = view.past.kept[0]
        view = replace(view, note=f"{clock(first.time_s)} is the first picture of this session")
    return logs.with_frame(replace(view, is_paused=True), past.frame_of(view.past, max(0, place)))


def sought(view: View, time_s: float) -> View:
    """The picture closest to this time."""
    if not view.past.kept:
        return view
    place = past.nearest(view.past, time_s)
    found_s = view.past.kept[place].time_s
    view = shown(view, place)
    if abs(found_s - time_s) <= _FAR_S:
        return view
    return replace(view, note=f"{clock(time_s)} was not sampled: {clock(found_s)} is closest")


def asking(view: View) -> View:
    """A time is typed next."""
    return replace(view, time_typed="")


def typed_time(view: View, key: str, character: str | None) -> View:
    """The view after a key while a time is typed."""
    text = view.time_typed or ""
    view = replace(view, note="")
    if key == "escape":
        return replace(view, time_typed=None)
    if key == "enter":
        return _gone(view, text)
    after = edited(text, key, character)
    return view if after is None else replace(view, time_typed=after)


def _gone(view: View, text: str) -> View:
    newest = view.past.newest
    if newest is None or not text.strip():
        return replace(view, time_typed=None)
    time_s = meant_s(text, view.playback.end_s if view.playback is not None else newest.derived.time_s)
    if time_s is None:
        return replace(view, note=f"{text} is not a valid time: {picture_time.EXAMPLES}")
    view = replace(view, time_typed=None)
    newest_s = newest.derived.time_s
    if time_s < newest_s:
        return sought(view, time_s)
    if time_s > newest_s and _is_loading(view):
        note = f"{clock(time_s)} is not loaded yet: {clock(newest_s)} is the last picture so far"
        return replace(live(view), note=note)
    return live(view)


def _is_loading(view: View) -> bool:
    """More of the recording is to come."""
    return view.playback is not None and not view.past.is_whole


_MOVES: dict[Pressed, Callable[[View], View]] = {
    "pause": paused,
    "step-back": partial(stepped, step=-1),
    "step-on": partial(stepped, step=1),
    "turn-back": partial(turned, step=-1),
    "turn-on": partial(turned, step=1),
    "ask": asking,
}
