"""The app: frames in from the feed's thread, pictures out. What is on them is up to the screens."""

from __future__ import annotations

import os
from pathlib import Path

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from hwtop.config import Config
from hwtop.feed.alerts import AlertBook
from hwtop.model.frame import Frame
from hwtop.model.symptom import Finding
from hwtop.symptoms.text import counted
from hwtop.ui import palette, themes
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys import shared
from hwtop.ui.messages import FrameReady, LineFree, SendAll
from hwtop.ui.options import ScreenOptions, Source, Stopper
from hwtop.ui.pages import actions
from hwtop.ui.past import FrameHistory
from hwtop.ui.screens.binding import binding
from hwtop.ui.screens.help import HelpScreen
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.screens.options import OptionsScreen
from hwtop.ui.screens.palette import PaletteScreen
from hwtop.ui.settings import adoption
from hwtop.ui.settings import view as settings_view
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.terminal.clipboard import copy_to_tmux
from hwtop.ui.terminal.driver import DiffDriver
from hwtop.ui.terminal.notification import escapes
from hwtop.ui.themes.no_colour import NO_COLOUR
from hwtop.ui.widgets.panel import LOOKS


class HwtopApp(App[None]):
    """Starts the feed on mount and stops it on exit. `last_frame` stays readable afterwards."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    COMPONENT_CLASSES = LOOKS
    TITLE = "hwtop"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [binding(action) for action in (*shared.APP, shared.INTERRUPT)]

    def __init__(self, start: Source, *, options: ScreenOptions | None = None) -> None:
        self.options = options or ScreenOptions()
        if self.options.no_color:
            os.environ["NO_COLOR"] = "1"  # the switch that Textual reads, once, as it starts
        else:
            os.environ.pop("NO_COLOR", None)  # empty means nothing, but not to Textual
        super().__init__(ansi_color=True if self.options.no_color else None)
        self.animation_level = "none"
        self.last_frame: Frame | None = None
        self._start = start
        self._feed: Stopper | None = None
        self._monitor = MonitorScreen(self.options)
        self._alerts = AlertBook(self.options.alerts.severity)
        file = self.options.settings
        saved = file.config if file is not None else Config()
        flags = file.flags if file is not None else {}
        self._settings = SettingsView(saved, saved, flags, adoption.later(self.options))
        self.set_keymap(dict(self.options.keymap))
        self.apply_theme(NO_COLOUR.name if self.options.no_color else self.options.theme)

    def copy_to_clipboard(self, text: str) -> None:
        """Into that of the terminal, and into the buffer of tmux."""
        super().copy_to_clipboard(text)
        if self.options.is_in_tmux:
            copy_to_tmux(text)

    def apply_theme(self, theme: str) -> None:
        """Show the colours of this theme, one of `themes.NAMES` or "auto", from now on."""
        tones = themes.tones(themes.fitting(theme, self.console.color_system, is_light=self.options.is_light))
        self.register_theme(tones.theme)
        self.theme = tones.name

    def refresh_css(self, animate: bool = True) -> None:
        """Use the colours of another theme. Before there is a screen that is not done twice: the style sheet is still to be parsed."""
        if self._screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """The one for this platform, with fewer bytes where it is an ordinary terminal."""
        usual = super().get_driver_class()
        return DiffDriver if usual is LinuxDriver else usual

    def _fatal_error(self) -> None:
        """End; the one who runs the app says why. The toolkit prints all variables, which can be megabytes."""
        self._close_messages_no_wait()

    @property
    def error(self) -> Exception | None:
        """What ended the screen before its time."""
        return self._exception

    def on_resize(self) -> None:
        """Nothing is sure to stand where it stood, also where the size is the old one again."""
        self.on_send_all()

    def on_send_all(self, _: SendAll | None = None) -> None:
        """Send every cell of the screen again."""
        if isinstance(self._driver, DiffDriver):
            self._driver.forget()
        self.refresh(layout=True)

    def on_line_free(self, _: LineFree) -> None:
        """Draw what was left out."""
        self.refresh()

    async def on_event(self, event: events.Event) -> None:
        """What a person does ends the idle state, whichever screen gets it."""
        if isinstance(event, events.InputEvent):
            self._monitor.used()
        await super().on_event(event)

    async def on_mount(self) -> None:
        """Show the screen, then start the feed."""
        await self.push_screen(self._monitor)
        self._feed = self._monitor.feed = self._start(self.publish)

    def publish(self, ready: Frame | FrameHistory) -> None:
        """Show it. May be called from any thread; never blocks."""
        self.post_message(FrameReady(ready))

    def on_frame_ready(self, event: FrameReady) -> None:
        """Draw the newest frame."""
        if isinstance(event.ready, FrameHistory):
            self.last_frame = event.ready.newest
            self._monitor.load(event.ready)
            return
        self.last_frame = frame = event.ready
        self._monitor.show(frame)
        for finding in self._alerts.advance(frame):
            self._alert(finding, frame)

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

    def action_settings(self) -> None:
        """Show the settings, as they were left the last time."""
        file = self.options.settings
        if file is None:
            self._monitor.tell("settings cannot be changed from here: `hwtop config init` writes a file to begin with")
        else:
            if self._monitor.view is not None:
                self._adopt(adoption.with_keys(self._settings, self._monitor.view))
            view = settings_view.shown_again(self._settings, is_readonly=self.options.is_readonly)
            screen = OptionsScreen(view, file, self._adopt, is_ascii=self.options.is_ascii)
            self.push_screen(screen, self._left_settings)

    def _left_settings(self, unsaved: int | None) -> None:
        if unsaved:
            key = key_names.first("settings", actions.complete(self.options.keymap))
            which = counted(unsaved, "changed setting")
            self._monitor.tell(f"{which} not saved: kept until hwtop ends; {key}, then s saves")

    def _adopt(self, settings: SettingsView) -> bool:
        before, self._settings = self._settings.draft, settings
        theme = self.options.theme
        self.options = adoption.options_for(self.options, before, settings.draft)
        if theme != self.options.theme and not self.options.no_color:
            self.apply_theme(self.options.theme)
        self.set_keymap(dict(self.options.keymap))
        self._alerts.listen(self.options.alerts.severity)
        self._monitor.adopt(self.options, adoption.interval_for(before, settings.draft))
        return self.options.is_ascii

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(self._monitor.view, is_ascii=self.options.is_ascii))

    def action_palette(self) -> None:
        """Offer everything by name."""
        entries = palette.entries(self._monitor.view, () if self.options.no_color else themes.NAMES)
        screen = PaletteScreen(entries, self.apply_theme, self.theme, is_ascii=self.options.is_ascii)
        self.push_screen(screen, self._monitor.carry_out)
