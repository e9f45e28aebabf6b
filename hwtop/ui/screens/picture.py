"""The picture: one View in its panels. The newest frame makes another View, and so does the person."""

from __future__ import annotations

from collections.abc import Container

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen

from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.ui import past as past_frames
from hwtop.ui.input.idle import IdleWatch
from hwtop.ui.options import ScreenOptions, Stopper
from hwtop.ui.pages import actions
from hwtop.ui.pages.layout import PANELS, arrange, drawn
from hwtop.ui.pages.registry import current
from hwtop.ui.panels import hint
from hwtop.ui.past import FrameHistory
from hwtop.ui.playback import TICK_S
from hwtop.ui.reducers import playback, processes
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.settings import adoption
from hwtop.ui.terminal.diff_writer import Piece
from hwtop.ui.terminal.driver import DrawsPieces
from hwtop.ui.view import View
from hwtop.ui.widgets.panel import Panel
from hwtop.ui.widgets.place import Place

_OF_PAST = frozenset({"verdict", "compact", "time-bar"})
"""Panels that say how far back the picture is: all that changes while it is held."""
_ALWAYS = ("verdict", "compact", "time-bar")
"""Panels that are there from the start: to mount all 49 would take a twelfth of it."""


class PictureScreen(Screen[None]):
    """Draws all pages, and tells the feed where the person looks. What keys and the mouse do is up to `MonitorScreen`."""

    def __init__(self, options: ScreenOptions) -> None:
        super().__init__()
        self.view: View | None = None
        self.feed: Stopper | None = None
        self._options = options
        self._user_focus = UserFocus()
        self._idle = IdleWatch(options.idle_interval_s)
        self._is_due = False
        self._panels: dict[str, Panel] = {}

    def compose(self) -> ComposeResult:
        """What every page may need; other panels are made when they are first placed."""
        for name in _ALWAYS:
            yield self._made(name)

    def _made(self, name: str) -> Panel:
        panel = self._panels[name] = Panel(id=name)
        panel.is_ascii = self._options.is_ascii
        panel.display = False
        return panel

    def on_mount(self) -> None:
        """Say that something is coming."""
        self.redraw()

    def on_resize(self) -> None:
        """Arrange anew."""
        self.redraw()

    def show(self, frame: Frame) -> None:
        """Draw `frame`, or only keep it while the picture is held."""
        before = self.view
        opened = self._options.opened(frame) if before is None else before
        self.view = processes.watched(opened, time_moves.arrived(opened, frame))
        is_held = before is not None and before.is_paused and self.view == replace(before, past=self.view.past)
        self._look_every(self._idle.see(frame, is_recorded=self.view.is_recorded))
        self.redraw(_OF_PAST if is_held and not self._is_due else PANELS)

    def used(self) -> None:
        """A key was pressed or the mouse moved."""
        self._look_every(self._idle.use())

    def _look_every(self, seconds: float | None) -> None:
        """The feed looks this often from now on, where it is not None."""
        if seconds is not None and self.feed is not None and self.view is not None:
            self.feed.interval(seconds)
            self.view = replace(self.view, is_idle=self._idle.is_idle)
            self._focus(self.view)

    def load(self, past: FrameHistory) -> None:
        """More of a recording is there. The first part of it is shown at once."""
        if self.view is None:
            at_s = self._options.playback.open_at_s if self._options.playback else None
            place = past_frames.opened_at(past) if at_s is None else past_frames.nearest(past, at_s)
            self.view = self._options.opened(past_frames.frame_of(past, place))
            self.set_interval(TICK_S, self._play)
        self.view = replace(self.view, past=past)
        self.redraw()

    def _play(self) -> None:
        before = self.view
        if before is None or before.playback is None:
            return
        self.view = playback.passed(before, TICK_S)
        if self.view.frame is not before.frame or (before.playback.is_playing and not playback.is_playing(self.view)):
            self._set(self.view)

    def adopt(self, options: ScreenOptions, interval_s: float | None) -> None:
        """Be as these say from now on; look this often where it is not None."""
        if interval_s is not None and self.feed is not None:
            self._choose(interval_s)
        if self.view is not None:
            self.view = adoption.view_for(self.view, self._options, options, interval_s)
        self._options = options
        for panel in self._panels.values():
            panel.is_ascii = options.is_ascii
            panel.redraw()
        self.redraw()

    def _choose(self, interval_s: float) -> None:
        """The person wants this interval."""
        self._idle.choose(interval_s)
        self._look_every(interval_s)

    def redraw(self, changed: Container[str] = PANELS) -> None:
        """Place and fill the panels for the view and the size there are now. Only those that have `changed`, where none moves."""
        self._is_due = False
        width, height = self.app.size
        if not self._panels or width <= 0 or height <= 0:
            return
        if self.view is None:
            self._panels["compact"].place(Region(0, 0, width, height))
            self._panels["compact"].show(
                hint.waiting(actions.complete(self._options.keymap), self._options.playback, width, height)
            )
            return
        if not self.is_attached:  # it is not there yet, or no longer
            return
        places = arrange(self.view, width, height)
        if "time-bar" not in places:
            # What is hidden while it holds the mouse never hears that it is let go.
            self._panels["time-bar"].release_mouse()
        with self.app.batch_update():
            self.mount(*(self._made(name) for name in places if name not in self._panels))
            moved = [panel.place(_region(places.get(name))) for name, panel in self._panels.items()]
            # The toolkit finds out what stands where. While nothing moves and no dialog is on top, that is known.
            driver = self.app._driver if self.is_active and not any(moved) else None  # noqa: SLF001  # nothing public draws cells
            pieces: list[Piece] | None = [] if isinstance(driver, DrawsPieces) else None
            for name in places:
                if name in changed or any(moved):
                    self._panels[name].show(drawn(self.view, name, places), pieces)
            if pieces and isinstance(driver, DrawsPieces):
                driver.draw(pieces)

    def tell(self, note: str) -> None:
        """Say this at the bottom until the next key."""
        self._look(note=note)

    def _look(self, **changes: object) -> None:
        if self.view is not None:
            self._set(replace(self.view, **{"note": "", **changes}))

    def _set(self, view: View) -> None:
        """Draw `view`, and tell the feed where it looks elsewhere than before."""
        self.view = view
        self._focus(view)
        if not self._is_due:
            self._is_due = True
            self.call_later(self._redraw_due)

    def _focus(self, view: View) -> None:
        wanted = current(view).user_focus(view)
        if wanted != self._user_focus and self.feed is not None:
            self._user_focus = wanted
            self.feed.look(wanted)

    def _redraw_due(self) -> None:
        """Behind the keys that wait already: where drawing takes longer than a key held down repeats, it is done once for some."""
        if self._is_due:
            self.redraw()


def _region(place: Place | None) -> Region | None:
    return Region(place.x, place.y, place.width, place.height) if place else None
