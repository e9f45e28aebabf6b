"""The monitor: what the person does to the picture, to the job, and to how often it is looked at."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from textual import events
from textual.errors import NoWidget

from hwtop.job.secrets import masked_text
from hwtop.model.frame import Frame
from hwtop.seconds import clock
from hwtop.symptoms.summary import cut, few_lines, job_pid, one_line
from hwtop.ui.input import keyboard
from hwtop.ui.input import mouse as mouse_moves
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys import shared
from hwtop.ui.messages import SendAll
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import actions, footer, registry
from hwtop.ui.palette import Entry
from hwtop.ui.panels import hint, picker, picture_time
from hwtop.ui.panels.logs.state import SEARCH
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.pictures.painted import paints
from hwtop.ui.pictures.shot import Shot
from hwtop.ui.reducers import interval, playback
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.screens.actions import JobActions
from hwtop.ui.screens.binding import binding
from hwtop.ui.screens.picture import PictureScreen
from hwtop.ui.screens.sharing import Shared, Sharing
from hwtop.ui.screens.type_ahead import handed_on, obey
from hwtop.ui.tables.filter import edited, typed
from hwtop.ui.view import View
from hwtop.ui.widgets.panel import Panel
from hwtop.ui.widgets.text import visible


class MonitorScreen(PictureScreen):
    """The keys and the mouse: each makes a new View."""

    BINDINGS = [binding(action) for action in actions.every() if action not in (*shared.APP, shared.INTERRUPT)]

    def __init__(self, options: ScreenOptions) -> None:
        super().__init__(options)
        self._orders = JobActions(self, options, self._look)
        self._sharing = Sharing(self, options, self._look)

    def show(self, frame: Frame) -> None:
        """Draw `frame`, and say what has come of what the person has asked for."""
        super().show(frame)
        self._orders.see(frame)

    def adopt(self, options: ScreenOptions, interval_s: float | None) -> None:
        """Be as these say from now on; look this often where it is not None."""
        super().adopt(options, interval_s)
        self._orders.adopt(options)
        self._sharing.adopt(options)

    def _read(self) -> None:
        if self.view is not None and (after := hint.read(self.view)) is not self.view:
            self._set(after)

    def action_press(self, action: str) -> None:
        """What the page in view does with this action."""
        if self.view is not None:
            self._set(keyboard.pressed(self.view, action, self.app.size))

    def action_page(self, page: str) -> None:
        """Show a page; the selection stays."""
        if self.view is not None:
            self._set(registry.turned(self.view, page))

    def action_signal(self) -> None:
        """Ask which signal to send to whom."""
        if self.view is not None and not self.view.is_picking:
            self._act(self._orders.signal, self.view)

    def action_deep(self) -> None:
        """Ask which deep look to take."""
        if self.view is not None and not self.view.is_picking:
            self._act(self._orders.deep, self.view)

    def _act(self, ask: Callable[[View], None], view: View) -> None:
        """Ask what to do to the job, unless this is a picture of the past: who is on it may be gone."""
        if picture_time.is_past(view):
            self._look(
                note=f"this is {picture_time.words(view)}: {key_names.first('pause', view.keymap)} goes back to now, then ask again"
            )
        else:
            ask(view)

    def action_turn(self, step: int) -> None:
        """Show the page `step` tabs further."""
        self._read()
        if self.view is not None:
            self.action_page(registry.neighbour(self.view, step))

    def carry_out(self, entry: Entry | None) -> None:
        """Do what was chosen in the palette."""
        if entry is None:
            return
        if entry.look is not None and self.view is not None:
            self._set(entry.look(replace(self.view, note="")))
            if self.view.note:  # it says why not
                return
        self._perform(entry.action)

    def _perform(self, action: str) -> None:
        """Run an action as its key does."""
        if action:
            self.app.call_later(self.app.run_action, action, self)

    def action_copy(self) -> None:
        """Put the conclusion of this page into the clipboard of the terminal, and on the screen to be marked."""
        if self.view is not None:
            text = registry.current(self.view).copied(self.view)
            report = self._options.report
            if report is not None and text == few_lines(
                self.view.frame
            ):  # of the job, not of what this page has selected
                text += f"\n\n{report(self.view.frame)}"
            self._copy(self.view, text)

    def action_copy_line(self) -> None:
        """The same of the verdict as one line."""
        if self.view is not None:
            self._copy(self.view, _chat_line(self.view.frame))

    def _copy(self, view: View, text: str) -> None:
        lines = picture_time.dated(view, text).splitlines()
        first, *more = [masked_text(visible(line)) for line in lines] or [""]  # a shell obeys what is pasted into it
        self.app.copy_to_clipboard("\n".join((first, *more)))
        where = "the terminal's clipboard" + (" and tmux (prefix ] pastes)" if self._options.is_in_tmux else "")
        self._look(note=f"sent to {where}: {first}" + (f" (and {len(more)} more lines)" if more else ""))

    def action_save_picture(self) -> None:
        """Save what is on the screen, and say where."""
        if self.view is not None:
            self._sharing.picture(self._shot(self.view))

    def action_choose_picture(self) -> None:
        """Ask how to save a picture."""
        if self.view is not None:
            self._sharing.choose(self._shot(self.view))

    def _shot(self, view: View) -> Shot:
        size = (self.app.size.width, self.app.size.height)
        return Shot(view, size, paints(self._panels["verdict"]), is_ascii=self._options.is_ascii)

    def action_record(self) -> None:
        """Record what is watched, or stop, and say where."""
        if self.view is not None:
            self._sharing.record(self.view)

    def action_bundle(self) -> None:
        """Collect what a colleague needs to see of the job, and say where."""
        if self.view is not None and not self.view.is_picking:
            self._act(lambda view: self._sharing.bundle(self._shot(view)), self.view)

    def on_shared(self, event: Shared) -> None:
        """Say where it is, or why it could not be written."""
        if event.copied:
            self.app.copy_to_clipboard(event.copied)
        changes = {} if event.is_recorded is None else {"is_recorded": event.is_recorded}
        self._look(note=event.note, **changes)

    def action_choose(self) -> None:
        """Attach to the job under the cursor, or show closer what this page has selected."""
        view = self.view
        if view is None:
            return
        if view.is_picking:
            self._act(self._pick, view)
        else:
            self._set(keyboard.chosen(replace(view, note=""), self.app.size))

    def _pick(self, view: View) -> None:
        if view.playback is not None:
            self._look(note="this is a recording: there is no job to attach to")
            return
        found = picker.candidates(view)
        if not found or self.feed is None:
            return
        self.view = time_moves.live(view)
        candidate = found[picker.place(view)]
        if candidate.can_attach:
            self.feed.attach(candidate.pid)
            # What was asked of the job before must not be asked of this one.
            view = replace(self.view, attaching=candidate.pid, selected=None, request=None, note="")
            self._set(view.with_state(ProcessesState()))
        else:
            self._look(note=f"cannot attach to {candidate.pid}: {candidate.reason or 'no reason given'}")

    def action_jobs(self) -> None:
        """Let go of this job, and list those that run."""
        view = self.view
        if view is None or view.is_picking or self.feed is None:
            return
        if view.playback is not None or view.job_frame.nodes:
            self._look(note="there is no list of jobs here: hwtop without a PID, on the machine of a job, has one")
            return
        self.feed.attach(None)
        start = registry.turned(time_moves.live(view), "overview")
        self._set(replace(start, attaching=None, selected=None, request=None))

    def _type(self, word: str) -> None:
        if self.view is not None:
            self._set(keyboard.typed(replace(self.view, note=""), word))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """No key does anything else while a filter is typed, and with --readonly some never do."""
        if action in shared.CHANGING and self._options.is_readonly:
            return False
        return self.view is None or not (self.view.typing or self.view.time_typed is not None)

    async def on_key(self, event: events.Key) -> None:
        """Type into the filter, or a time to go to, else do what the key is bound to; what was to be read once has been."""
        if handed_on(self, event):
            return
        self._read()
        view = self.view
        if view is not None and view.time_typed is not None:
            event.stop()
            self._set(time_moves.typed_time(view, event.key, event.character))
            return
        if view is None or not view.typing:
            if not await obey(self, event):
                help_key = key_names.first("help", actions.complete(self._options.keymap))
                key = event.character if event.is_printable and "+" not in event.key else key_names.name(event.key)
                self._look(note=f"{key} is not bound to anything; {help_key} lists all keys")
            return
        event.stop()
        if event.key == "enter":
            self._look(typing="")
            if view.typing == SEARCH and view.typed:
                self.action_press("previous-flagged")
        elif event.key == "escape":
            self._type("")
            self._look(typing="")
        elif (word := edited(view.begun(event.is_printable), event.key, event.character)) is not None:
            self._type(word)

    def on_paste(self, event: events.Paste) -> None:
        """Into the filter or the time, while one is typed."""
        if self.view is not None and self.view.time_typed is not None:
            self._look(time_typed=typed(self.view.time_typed, event.text))
        if self.view is not None and self.view.typing:
            self._type(typed(self.view.begun(), event.text))

    def action_interval(self, step: int) -> None:
        """Refresh slower or faster; a recording plays faster or slower."""
        if self.view is None or self.feed is None:
            return
        if self.view.playback is not None:
            self._set(playback.faster(self.view, step))
            return
        view = interval.stepped(self.view, step)
        if view.interval_s is not None and view.interval_s != self.view.interval_s:
            self._choose(view.interval_s)
        self._set(view)

    def action_repaint(self) -> None:
        """Send every cell again: something else has written to the terminal."""
        self.redraw()
        self.post_message(SendAll())

    def on_click(self, event: events.Click) -> None:
        """A tab shows its page, a rank's row selects it."""
        view, panel = self.view, event.widget
        if view is None or not isinstance(panel, Panel):
            return
        if panel.id == "footer":
            self._perform(footer.clicked(view, event.x, panel.size.width))
        elif panel.id and panel.id != "time-bar":
            at = event.x, event.y
            self._set(mouse_moves.clicked(replace(view, note=""), panel.id, at, event.chain, self.app.size))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """The time bar goes to this cell, and follows the mouse until it is let go."""
        bar = self._panels["time-bar"]
        if self._under(event) == bar.id and self.view is not None:
            bar.capture_mouse()
            self._set(mouse_moves.pulled(self.view, event.screen_x, bar.size.width, is_drag=False))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the time bar."""
        bar = self._panels["time-bar"]
        if self.app.mouse_captured is bar and self.view is not None and self.view.is_paused:
            self._set(mouse_moves.pulled(self.view, event.screen_x, bar.size.width, is_drag=True))

    def on_mouse_up(self) -> None:
        """Let the time bar go."""
        self._panels["time-bar"].release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move what is under the pointer."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move what is under the pointer."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, down: int) -> None:
        if self.view is not None and (panel := self._under(event)):
            self._set(mouse_moves.wheeled(replace(self.view, note=""), panel, down, self.app.size))

    def _under(self, event: events.MouseEvent) -> str | None:
        """The panel at the pointer."""
        try:
            widget, _ = self.get_widget_at(event.screen_x, event.screen_y)
        except NoWidget:
            return None
        return widget.id


def _chat_line(frame: Frame) -> str:
    """The verdict after host, PID and time of day: what it says of times goes on to pass."""
    job = frame.derived.job
    pid = () if job is None else (f"PID {job_pid(job)}",)
    where = (frame.derived.host, *pid, clock(frame.derived.time_s))
    return cut(f"{', '.join(where)}: {one_line(frame)}")
