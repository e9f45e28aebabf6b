"""What the screen is told at start, and what it may ask of the feed."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from msgspec import Struct, field

from hwtop.config import EVERY_PANEL, NO_ALERTS, AlertConfig, Config, PanelConfig
from hwtop.config.settings import Path, Value
from hwtop.errors import HwtopError
from hwtop.fields.level import Levels
from hwtop.fields.levels import built_in
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.model.signal import SignalAnswer, SignalOrder
from hwtop.model.symptom import Finding
from hwtop.ui.pages import actions, registry
from hwtop.ui.past import FrameHistory
from hwtop.ui.pictures.shot import Shot
from hwtop.ui.playback import Playback
from hwtop.ui.view import View


class Stopper(Protocol):
    """The feed as the screen sees it. No method may block."""

    def attach(self, pid: int | None) -> None:
        """Watch the job of this process from the next tick on; None: list the jobs of this machine instead."""

    def look(self, user_focus: UserFocus) -> None:
        """Look closely at what the person wants to see; replaces the wish before."""

    def interval(self, seconds: float) -> None:
        """Look this often from now on."""

    def stop(self) -> None:
        """End the feed; do not wait for it."""


Publish = Callable[[Frame], None]
Start = Callable[[Publish], Stopper]
"""Starts the feed, which calls `publish` from its own thread, and returns at once."""
Show = Callable[[Frame | FrameHistory], None]
"""Takes the newest frame of a live watch, or as much of a recording as is loaded."""
Source = Callable[[Show], Stopper]
"""As `Start`, of either."""
Send = Callable[[SignalOrder], tuple[SignalAnswer, ...]]
"""Sends a signal that a person has confirmed. Does not block and does not raise."""

Call = Callable[[Finding, Frame], None]
"""Tells of a finding elsewhere. Does not block and does not raise."""


Changes = Mapping[Path, Any]
"""Path of a setting -> its new value; None takes an entry out of a table."""
Saved = Callable[[Config | HwtopError], None]
"""Told what the file says now, or why it could not be written; from any thread."""
PictureSaved = Callable[[Sequence[pathlib.Path] | HwtopError], None]
"""Told where the files are, or why nothing could be written; from any thread."""
SavePicture = Callable[[Shot, PictureSaved], None]
"""Takes what to draw and who is to be told. Does not block and does not raise."""

RecordingChanged = Callable[[str, bool], None]
"""Told in words what came of a recording, and whether one goes on; from any thread."""
Record = Callable[[str, RecordingChanged], None]
"""Starts a recording in a file of this name, or ends the one that goes on. Does not block and does not raise."""
SaveBundle = Callable[[Shot, Callable[[str, pathlib.Path | None], None]], None]
"""Makes a bundle with this picture. Tells in words how far it is, and at last where the file is; from any thread. Does not block."""


class SettingsFile(Struct, frozen=True):
    """The person's settings, and how they are written."""

    place: str
    config: Config
    """What it said at the start."""
    save: Callable[[Changes, Saved], None]
    """Does not block and does not raise."""
    flags: Mapping[Path, tuple[str, Value]] = field(default_factory=dict)
    """What the command line says: path of the setting -> the flag and its value, which go before the file."""


class ScreenOptions(Struct, frozen=True):
    """How to show."""

    theme: str = "hwtop"
    """One of `themes.NAMES`, or "auto"."""
    is_light: bool = False
    """The terminal's ground is light: what "auto" makes of it."""
    is_ascii: bool = False
    is_in_tmux: bool = False
    """What is copied is also given to tmux, which by its default settings does not pass it on."""
    note: str = ""
    """Said at the bottom until the first key."""
    is_first: bool = False
    """This person has never used hwtop: the first keys to know are told."""
    is_readonly: bool = False
    """Nothing that changes the job is offered: no signals, no deep looks."""
    send: Send | None = None
    """None: there is nobody to send a signal to, as in a replay."""
    has_pystack: bool = False
    """Whether the optional tool for deep looks is installed."""
    no_color: bool = False
    idle_interval_s: float = 0.0
    """Time between two looks while nobody uses the screen and all is well, where it is longer than the usual one."""
    panels: PanelConfig = EVERY_PANEL
    alerts: AlertConfig = NO_ALERTS
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys of the person's own: id of an action -> its keys (see `keymap`)."""
    levels: Levels = field(default_factory=built_in)
    """From where on numbers have the colour of a warning."""
    save_picture: SavePicture | None = None
    """None: a picture cannot be saved from here."""
    report: Callable[[Frame], str] | None = None
    """The report that is copied below the conclusion, for an issue; None: only the conclusion is."""
    record: Record | None = None
    """None: nothing can be recorded from here, as in a replay."""
    bundle: SaveBundle | None = None
    """None: there is no job here to make a bundle of."""
    settings: SettingsFile | None = None
    """None: there is no file that could be changed from here."""
    call: Call | None = None
    """Who tells of an alert outside of the terminal; None: nobody."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """Of the requests to the feed: one row of them, however many screens share it."""
    playback: Playback | None = None
    """None: a live watch."""

    def opened(self, frame: Frame) -> View:
        """What is shown of the first frame."""
        view = View(
            frame=frame,
            playback=self.playback,
            is_paused=self.playback is not None,
            is_readonly=self.is_readonly,
            is_first=self.is_first,
            note=self.note,
            keymap=actions.complete(self.keymap),
            levels=self.levels,
            hidden=frozenset(self.panels.hide),
            drawing=self.panels.overview,
        )
        return registry.first(view)
