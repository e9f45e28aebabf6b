"""The monitor: shows the newest frame, and keeps what the person has chosen across pages and frames."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen

from hwtop.model.aim import Wish
from hwtop.model.frame import Frame
from hwtop.ui import curve_view, keys, log_view, moves, order, panel_moves, process_view, rank_view
from hwtop.ui.filter import typed
from hwtop.ui.layout import PANELS, arrange, drawn
from hwtop.ui.messages import SendAll
from hwtop.ui.options import ScreenOptions, Stopper
from hwtop.ui.panels import conclusion, detail, footer, picker
from hwtop.ui.screens.orders import Orders
from hwtop.ui.view import PAGES, Inside, Page, View
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.panel import Panel

INTERVALS_S = (0.5, 1.0, 2.0, 5.0, 10.0)
"""What `+` and `-` choose from."""
_WAITING = "hwtop: the first look at the machine …"


class MonitorScreen(Screen[None]):
    """All pages. Panels are drawn from one View; a key makes a new View."""

    BINDINGS = keys.MONITOR

    def __init__(self, options: ScreenOptions) -> None:
        super().__init__()
        self.view: View | None = None
        self.feed: Stopper | None = None
        self._options = options
        self._orders = Orders(self, options, self._look)
        self._newest: Frame | None = None
        self._wish = Wish()
        self._panels: dict[str, Panel] = {}

    def compose(self) -> ComposeResult:
        """Every panel there is; most are hidden at any time."""
        for name in PANELS:
            panel = self._panels[name] = Panel(id=name)
            panel.is_ascii = self._options.is_ascii
            panel.display = False
            yield panel

    def on_mount(self) -> None:
        """Say that something is coming."""
        self.redraw()

    def on_resize(self) -> None:
        """Arrange anew."""
        self.redraw()

    def show(self, frame: Frame) -> None:
        """Draw `frame`, or only keep it while the picture is held."""
        self._newest = frame
        if self.view is None:
            self.view = View(
                frame=frame,
                is_readonly=self._options.is_readonly,
                hidden=frozenset(self._options.panels.hide),
                drawing=self._options.panels.overview,
            )
        elif not self.view.is_paused:
            self.view = log_view.with_frame(self.view, frame)
        self._orders.see(frame)
        self.redraw()

    def redraw(self) -> None:
        """Place and fill the panels for the view and the size there are now."""
        width, height = self.app.size
        if not self._panels or width <= 0 or height <= 0:
            return
        if self.view is None:
            self._panels["compact"].place(Region(0, 0, width, height))
            self._panels["compact"].show([Line(_WAITING, "dim").fitted(width)])
            return
        places = arrange(self.view, width, height)
        with self.app.batch_update():
            for name, panel in self._panels.items():
                place = places.get(name)
                panel.place(Region(place.x, place.y, place.width, place.height) if place else None)
                if place:
                    panel.show(drawn(self.view, name, places))

    def _look(self, **changes: object) -> None:
        if self.view is not None:
            self._set(replace(self.view, **{"note": "", **changes}))  # type: ignore[arg-type]

    def _on_logs(self) -> View | None:
        """The view on the logs page; None while there are no logs to look at."""
        if self.view is None or self.view.is_picking:
            return None
        return replace(self.view if self.view.page == "logs" else moves.turned(self.view, "logs"), note="")

    def _set(self, view: View) -> None:
        """Draw `view`, and tell the feed where it looks elsewhere than before."""
        self.view = view
        if view.wish != self._wish and self.feed is not None:
            self._wish = view.wish
            self.feed.look(view.wish)
        self.redraw()

    def action_page(self, page: str) -> None:
        """Show a page; the selection stays."""
        if self.view is not None:
            self._set(moves.turned(self.view, cast("Page", page)))

    def action_logs_or_files(self) -> None:
        """On the processes page the open files of the process, else the logs."""
        if self.view is not None and self.view.page == "processes" and not self.view.is_picking:
            self.action_inside("files")
        else:
            self.action_page("logs")

    def action_inside(self, inside: str) -> None:
        """Show one process from inside, or the tree again."""
        if self.view is not None and not self.view.is_picking:
            self._set(process_view.opened(replace(self.view, note=""), cast("Inside", inside)))

    def action_signal(self) -> None:
        """Ask which signal to send to whom."""
        if self.view is not None and not self.view.is_picking:
            self._orders.signal(self.view)

    def action_deep(self) -> None:
        """Ask which deep look to take."""
        if self.view is not None and not self.view.is_picking:
            self._orders.deep(self.view)

    def action_turn(self, step: int) -> None:
        """Show the page `step` further."""
        if self.view is not None:
            self.action_page(PAGES[(PAGES.index(self.view.page) + step) % len(PAGES)])

    def action_move(self, right: int, down: int) -> None:
        """Move what this page moves."""
        if self.view is not None:
            self._set(moves.moved(replace(self.view, note=""), right, down, self.app.size))

    def action_rank(self, step: int) -> None:
        """Select the next or previous rank."""
        if self.view is not None and not self.view.is_picking:
            self._set(process_view.followed(rank_view.stepped(replace(self.view, note=""), step)))

    def action_scroll_by(self, rows: int) -> None:
        """Scroll this page."""
        if self.view is not None:
            self._set(moves.scrolled(replace(self.view, note=""), rows, self.app.size))

    def action_copy(self) -> None:
        """Put the conclusion of this page into the clipboard of the terminal, and on the screen to be marked."""
        if self.view is not None:
            text = detail.said(self.view) if self.view.page == "processes" and self.view.inside else ""
            text = text or conclusion.said(self.view)
            self.app.copy_to_clipboard(text)
            first, *more = text.splitlines() or [""]
            self._look(note=f"copied: {first}" + (f" (and {len(more)} more lines)" if more else ""))

    def action_order(self) -> None:
        """Order the ranks or processes by the next column; of curves, the next source of the large one."""
        if self.view is not None and _has_order(self.view):
            self._set(order.following(replace(self.view, note="")))
        elif self.view is not None and self.view.page == "curves":
            self._set(curve_view.next_source(replace(self.view, note="")))

    def action_reverse(self) -> None:
        """Order the ranks or processes the other way round."""
        if self.view is not None and _has_order(self.view):
            self._set(order.turned(replace(self.view, note="")))

    def action_choose(self) -> None:
        """Attach to the job under the cursor, or show closer what this page has selected."""
        view = self.view
        if view is None:
            return
        if not view.is_picking:
            self._set(moves.chosen(replace(view, note=""), self.app.size))
            return
        found = picker.candidates(view)
        if not found or self.feed is None:
            return
        candidate = found[min(view.cursor, len(found) - 1)]
        if candidate.can_attach:
            self.feed.attach(candidate.pid)
            # What was asked of the job before must not be asked of this one.
            self._look(note=f"attaching to {candidate.pid} …", selected=None, process=None, inside="", request=None)
        else:
            self._look(note=f"cannot attach to {candidate.pid}: {candidate.reason or 'no reason given'}")

    def action_pause(self) -> None:
        """Hold the picture or let it go on with the newest frame."""
        view = self.view
        if view is not None:
            self._look(is_paused=not view.is_paused, frame=self._newest if view.is_paused else view.frame)

    def action_clear(self) -> None:
        """Leave what was opened, forget what was typed; without them forget selection and scroll. Never quits."""
        if self.view is not None:
            self._set(moves.cleared(replace(self.view, note="")))

    def action_filter(self) -> None:
        """Take what is typed next as the filter of this page; pages without lines lead to the logs."""
        view = self.view
        if view is None or view.is_picking:
            return
        if view.page not in ("logs", "processes", "ranks"):
            self.action_page("logs")
        self._look(is_typing=True, is_searching=False)

    def action_search(self) -> None:
        """Take what is typed next as the word to look for in the logs."""
        if view := self._on_logs():
            self._set(replace(view, is_typing=True, is_searching=True))

    def _type(self, word: str) -> None:
        if self.view is not None:
            self._set(moves.typed(replace(self.view, note=""), word))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """No key does anything else while a filter is typed, and with --readonly some never do."""
        if action in keys.CHANGING and self._options.is_readonly:
            return False
        return self.view is None or not self.view.is_typing

    def on_key(self, event: events.Key) -> None:
        """Type into the filter."""
        view = self.view
        if view is None or not view.is_typing:
            return
        event.stop()
        if event.key == "enter":
            self._look(is_typing=False)
            if view.is_searching and view.search:
                self.action_flagged(-1)
        elif event.key == "escape":
            self._type("")
            self._look(is_typing=False)
        elif event.key in ("backspace", "ctrl+h"):
            self._type(view.typed[:-1])
        elif event.key == "ctrl+u":
            self._type("")
        elif event.is_printable and event.character:
            self._type(typed(view.typed, event.character))

    def on_paste(self, event: events.Paste) -> None:
        """Into the filter, while one is typed."""
        if self.view is not None and self.view.is_typing:
            self._type(typed(self.view.typed, event.text))

    def action_flagged(self, step: int) -> None:
        """Show the log line that holds the searched word next, or that matched a pattern; or the one before."""
        if view := self._on_logs():
            self._set(moves.jumped(view, step, self.app.size))

    def action_others(self) -> None:
        """Show what the other ranks said when the marked line came, or go back."""
        if view := self._on_logs():
            self._set(moves.inside(view, "others", self.app.size))

    def action_log_scale(self) -> None:
        """Draw the large curve on a log scale, or on an even one again."""
        if self.view is not None and self.view.page == "curves":
            self._set(curve_view.scaled(replace(self.view, note="")))

    def action_follow(self) -> None:
        """Show each new log line, or hold those in sight."""
        if self.view is not None and self.view.page == "logs":
            self._look(is_following=not self.view.is_following, scroll=0, mark=None, log_inside="")

    def action_interval(self, step: int) -> None:
        """Look less or more often."""
        view = self.view
        if view is None or self.feed is None:
            return
        now_s = view.interval_s or view.frame.moment.interval_s
        further = [each for each in INTERVALS_S if (each > now_s if step > 0 else each < now_s)]
        if not further:
            self._look(note=f"{now_s:g} s is the {'longest' if step > 0 else 'shortest'} interval")
            return
        chosen_s = further[0 if step > 0 else -1]
        self.feed.interval(chosen_s)
        self._look(interval_s=chosen_s, note=f"looking every {chosen_s:g} s")

    def action_panel(self, what: str) -> None:
        """Choose another panel, enlarge or hide the one that is meant, or bring all back."""
        if self.view is not None:
            self._set(panel_moves.pressed(self.view, cast("panel_moves.Pressed", what), self.app.size))

    def action_repaint(self) -> None:
        """Send every cell again: something else has written to the terminal."""
        self.redraw()
        self.post_message(SendAll())

    def on_click(self, event: events.Click) -> None:
        """A tab shows its page, a rank's row selects it."""
        view, panel = self.view, event.widget
        if view is None or not isinstance(panel, Panel):
            return
        if panel.id == "footer" and not view.is_picking and (page := footer.page_at(view, event.x, panel.size.width)):
            self.action_page(page)
        elif panel.id:
            at = event.x, event.y
            self._set(panel_moves.clicked(replace(view, note=""), panel.id, at, event.chain, self.app.size))

    def on_mouse_scroll_down(self) -> None:
        """As the down key."""
        self.action_move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        """As the up key."""
        self.action_move(0, -1)


def _has_order(view: View) -> bool:
    return view.page in ("ranks", "processes") and not view.inside and not view.is_picking
