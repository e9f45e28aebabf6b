"""The app: frames in from the feed's thread, pictures out. What is on them is up to the screens."""

from __future__ import annotations

import os

from textual.app import App

from hwtop.feed.alerts import AlertBook
from hwtop.model.frame import Frame
from hwtop.model.symptom import Finding
from hwtop.ui import keys
from hwtop.ui.messages import FrameReady
from hwtop.ui.notification import escapes
from hwtop.ui.options import ScreenOptions, Start, Stopper
from hwtop.ui.screens.help import HelpScreen
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.theme import HWTOP, rank_tones


class HwtopApp(App[None]):
    """Starts the feed on mount and stops it on exit. `last_frame` stays readable afterwards."""

    CSS_PATH = "app.tcss"
    TITLE = "hwtop"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [*keys.APP, keys.INTERRUPT]

    def __init__(self, start: Start, *, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        if self.options.no_color:
            os.environ["NO_COLOR"] = "1"  # the switch that Textual reads, once, as it starts
        super().__init__()
        self.animation_level = "none"
        self.last_frame: Frame | None = None
        self._start = start
        self._feed: Stopper | None = None
        self._monitor = MonitorScreen(self.options)
        self._alerts = AlertBook(self.options.alerts.severity)
        self.register_theme(HWTOP)
        self.theme = self.options.theme if self.options.theme in self.available_themes else HWTOP.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The quiet tones, for themes that do not name them."""
        theme = self.current_theme
        tone = theme.foreground or ("#e0e0e0" if theme.dark else "#1f1f1f")
        quiet = "#8f98a8" if theme.dark else "#5a6372"
        faint = "#4a5363" if theme.dark else "#b3bac6"
        quiet_tones = {"hwtop-dim": quiet, "hwtop-label": tone, "hwtop-border": faint, "hwtop-track": faint}
        return quiet_tones | rank_tones(is_dark=theme.dark)

    async def on_mount(self) -> None:
        """Show the screen, then start the feed."""
        await self.push_screen(self._monitor)
        self._feed = self._monitor.feed = self._start(self.publish)

    def publish(self, frame: Frame) -> None:
        """Show `frame`. May be called from any thread; never blocks."""
        self.post_message(FrameReady(frame))

    def on_frame_ready(self, event: FrameReady) -> None:
        """Draw the newest frame."""
        self.last_frame = event.frame
        self._monitor.show(event.frame)
        for finding in self._alerts.advance(event.frame):
            self._alert(finding, event.frame)

    def _alert(self, finding: Finding, frame: Frame) -> None:
        if self.options.alerts.bell:
            self.bell()
        if self.options.alerts.desktop and self._driver is not None:
            self._driver.write(escapes(finding))  # in one piece with all else that goes to the terminal
        if self.options.call is not None:
            self.options.call(finding, frame)

    def on_unmount(self) -> None:
        """Tell the feed to end; its thread is not waited for."""
        if self._feed is not None:
            self._feed.stop()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(is_ascii=self.options.is_ascii, is_readonly=self.options.is_readonly))
