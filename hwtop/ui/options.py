"""What the screen is told at start, and what it may ask of the feed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hwtop.config import EVERY_PANEL, NO_ALERTS, AlertConfig, PanelConfig
from hwtop.model.aim import Wish
from hwtop.model.frame import Frame
from hwtop.model.signal import SignalAnswer, SignalOrder
from hwtop.model.symptom import Finding


class Stopper(Protocol):
    """The feed as the screen sees it. No method may block."""

    def attach(self, pid: int) -> None:
        """Watch the job of this process from the next tick on."""

    def look(self, wish: Wish) -> None:
        """Look closely at what the person wants to see; replaces the wish before."""

    def interval(self, seconds: float) -> None:
        """Look this often from now on."""

    def stop(self) -> None:
        """End the feed; do not wait for it."""


Publish = Callable[[Frame], None]
Start = Callable[[Publish], Stopper]
"""Starts the feed, which calls `publish` from its own thread, and returns at once."""
Send = Callable[[SignalOrder], tuple[SignalAnswer, ...]]
"""Sends a signal that a person has confirmed. Does not block and does not raise."""

Call = Callable[[Finding, Frame], None]
"""Tells of a finding elsewhere. Does not block and does not raise."""


@dataclass(frozen=True)
class ScreenOptions:
    """How to show."""

    theme: str = "hwtop"
    """One of `themes.NAMES`, or "auto"."""
    is_ascii: bool = False
    is_readonly: bool = False
    """Nothing that changes the job is offered: no signals, no deep looks."""
    send: Send | None = None
    """None: there is nobody to send a signal to, as in a replay."""
    has_pystack: bool = False
    """Whether the optional tool for deep looks is installed."""
    no_color: bool = False
    panels: PanelConfig = EVERY_PANEL
    alerts: AlertConfig = NO_ALERTS
    call: Call | None = None
    """Who tells of an alert outside of the terminal; None: nobody."""
