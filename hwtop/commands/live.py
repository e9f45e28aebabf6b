"""`hwtop [PID]`: the screen."""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from hwtop.commands import first_run, screen
from hwtop.commands.options import on_finding, reading, settings_of
from hwtop.commands.target import target, target_or_none
from hwtop.commands.values import LARGEST
from hwtop.config import Config, SymptomConfig
from hwtop.errors import CannotError
from hwtop.leaving import interruptible

if TYPE_CHECKING:
    from hwtop.feed.feed import Feed
    from hwtop.model.frame import Frame
    from hwtop.model.plan import UserFocus
    from hwtop.model.signal import SignalAnswer, SignalOrder
    from hwtop.ui.options import ScreenOptions, Send, Source
    from hwtop.ui.pictures.shot import Shot

_STARTED = 20
"""Frames after which all is read and drawn that the start takes: logs are read from the first ones on."""
BUNDLE_S = 600.0
"""Of the recording in the bundle of key B: what takes some seconds to mask and to replay."""
_LEAVE_S = 2.0
"""How long a screen whose terminal is gone may take to exit."""


class Watching:
    """The feed of the job that the screen watches now."""

    def __init__(
        self,
        target_pid: int | None,
        interval_s: float,
        logs: tuple[str, ...],
        gpus: tuple[int, ...] | None,
        config: Config,
    ) -> None:
        self._target_pid = target_pid
        self._interval_s = interval_s
        self._logs = logs
        self._gpus = gpus
        self._config = config
        from hwtop.bundle.incident import keeper
        from hwtop.feed.flight import Flight
        from hwtop.feed.record import RecordingSwitch

        self._publishing = threading.Lock()
        self._publish: Callable[[Frame], None] | None = None
        self._feed: Feed | None = None
        self._flight = Flight("off", None)
        self._frame: Frame | None = None
        self.recording = RecordingSwitch(earlier=lambda: self._flight.snapshots())
        self.incident = keeper(False)

    def start(self, publish: Callable[[Frame], None]) -> Watching:
        """Publish frames from now on, from a thread: the newest at once where some have come since `begin`."""
        if not gc.isenabled():  # all is imported
            gc.freeze()
            gc.enable()
        with self._publishing:
            self._publish = publish
            if self._frame is not None:
                publish(self._frame)
        if self._feed is None:
            self.begin()
        return self

    def attach(self, pid: int) -> None:
        """Watch another job from now on. A recording is of one job."""
        self.stop()
        threading.Thread(target=self.recording.close, name="hwtop-recording", daemon=True).start()
        self._target_pid = pid
        self.begin()

    def look(self, user_focus: UserFocus) -> None:
        """The user looks at this: sample it more often, read its details, carry out the request."""
        assert self._feed is not None
        self._feed.focus.user_focus = user_focus

    def interval(self, seconds: float) -> None:
        """Sample at this interval from now on, also the next job."""
        self._interval_s = self._source.interval_s = seconds

    def send(self, order: SignalOrder) -> tuple[SignalAnswer, ...]:
        """Send the signal, and let the frames know: what it does to the job is no finding."""
        from hwtop.collectors.process.signals import send

        answers = send(order)
        reached = tuple(answer.pid for answer in answers if answer.error is None)
        if reached:
            self._source.signalled(order.signal, reached)
        return answers

    def bundle(self, shot: Shot, told: Callable[[str, Path | None], None]) -> None:
        """Make a bundle of what is watched, in a thread."""
        if self._frame is not None:
            from hwtop.commands.bundle import bundle_of_watch

            watched = partial(self._flight.snapshots, BUNDLE_S)
            bundle_of_watch(shot, self._frame, self.incident.seen(), watched, self._config.symptoms, told)

    def stop(self) -> None:
        """Stop publishing; does not wait."""
        if self._feed is not None:
            self._feed.stop()
        self._flight.close()

    def begin(self) -> None:
        """Start to read. Nothing is shown before `start`: the first reading may take a second, and so may the import of the screen."""
        from hwtop.bundle.incident import keeper
        from hwtop.feed.feed import Feed, both
        from hwtop.feed.flight import Flight
        from hwtop.feed.heap import give_back
        from hwtop.feed.learn import learner
        from hwtop.feed.live import LiveSource

        self._flight = flight = Flight(self._config.recording.flight, self._target_pid)
        self.incident = incident = keeper(self._config.incidents.save, flight.snapshots)

        def show(frame: Frame) -> None:
            incident.advance(frame)
            with self._publishing:
                self._frame = frame
                if self._publish is not None:
                    self._publish(frame)
            if frame.number == _STARTED:
                give_back()

        self._source = LiveSource(
            target_pid=self._target_pid, interval_s=self._interval_s, log_globs=self._logs, gpus=self._gpus
        )
        store = both(flight.store, self.recording.store, incident.store)
        learned = learner(self._config.baselines.learn)
        self._feed = Feed(self._source, show, self._config.symptoms, learned, store)
        self._feed.start()


@click.command("live")
@target
@reading
@screen.flags
@on_finding
@click.option(
    "-1", "--once", is_flag=True, help="Print the screen as text and exit: after the first verdict, 11 s at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print each refresh as JSON on one line, instead of the screen.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    once: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Watch the job that PID belongs to (launcher, rank or worker); without PID, choose one."""
    target_pid = target_or_none(ctx)
    if as_json:
        print_stream(target_pid, logs, gpus, given["interval"], settings_of(ctx).symptoms)
        return
    gc.disable()  # until all is imported (`Watching`): none of that is garbage, and to look for some is a tenth of the imports
    try:
        if once:
            opening = screen.opening(ctx)
            print_once(target_pid, logs, gpus, opening.options, opening.config.symptoms)
        else:
            watching = Watching(target_pid, given["interval"], logs, gpus, settings_of(ctx))
            with early(watching):
                watch(screen.opening(ctx), watching)
    finally:
        gc.enable()


@contextlib.contextmanager
def early(watching: Watching) -> Iterator[None]:
    """Read while the screen is still imported, where there will be one. However that ends, reading ends with it.

    Raises:
        CannotError: the limit on address space is too low.
    """
    try:
        if _has_terminal():
            _make_room()
            with interruptible():
                watching.begin()
                importlib.import_module("hwtop.ui.app")
        yield
    finally:
        watching.stop()


def watch(opening: screen.Opening, watching: Watching, seconds: float | None = None) -> None:
    """The screen of a job, as `run`; a recording that goes on ends with it."""
    options = replace(offered(opening.options, watching.send), record=watching.recording.toggle, bundle=watching.bundle)
    run(replace(opening, options=options), watching.start, seconds)
    watching.recording.close()
    if (saved := watching.incident.finish()) is not None and _takes_text():
        from hwtop.report.frame.wait import incident_line

        with contextlib.suppress(OSError):  # the terminal itself may be gone
            print(f"hwtop: {incident_line(saved)}", flush=True)


def run(opening: screen.Opening, start: Source, seconds: float | None = None) -> None:
    """The screen of what `start` publishes, until the user quits (or for `seconds`). The last verdict stays in the scrollback.

    Raises:
        CannotError: standard output is not a terminal, TERM does not name one, or the limit on address space is too low.
        UsageError: no such theme.
    """
    from hwtop.feed.call import Caller
    from hwtop.ui import themes
    from hwtop.ui.app import HwtopApp
    from hwtop.ui.terminal import terminal

    if not _has_terminal():
        raise CannotError(
            "the screen needs a terminal; without one use `hwtop diagnose PID`, `hwtop PID --once` or `hwtop replay FILE --diagnose`"
        )
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]  # Textual draws on it: `2>errors.txt` must not blank the screen
    _make_room()
    terminal.check()
    themes.check(opening.options.theme)
    options = replace(terminal.fitted(opening.options), is_first=first_run.is_first())
    failures: list[str] = []
    app = HwtopApp(start, options=replace(options, call=Caller(options.alerts, failures.append)))

    def leave(*_: object) -> None:
        app.call_later(app.exit)

    for signum in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(signum, leave)
    threading.Thread(target=_end_with_terminal, name="hwtop-terminal", daemon=True).start()
    if seconds is not None:
        timer = threading.Timer(seconds, leave)
        timer.daemon = True
        timer.start()
    app.run(mouse=opening.has_mouse)
    if app.error is not None:
        raise app.error
    if app.last_frame is not None and _takes_text():
        from hwtop.job.log.text import visible

        with contextlib.suppress(OSError):  # the terminal itself may be gone
            print(f"hwtop: {visible(app.last_frame.verdict.text)}", flush=True)
            for failure in dict.fromkeys(failures):
                print(f"hwtop: {failure}", flush=True)


def offered(options: ScreenOptions, send: Send) -> ScreenOptions:
    """`options` with the actions that change the job, unless they are read-only."""
    from hwtop.collectors.stacks.deep_look import find_pystack

    return options if options.is_readonly else replace(options, send=send, has_pystack=find_pystack() is not None)


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _make_room() -> None:
    """Before the first thread.

    Raises:
        CannotError: the limit on address space is too low.
    """
    from hwtop.feed.address_space import check_address_space
    from hwtop.feed.heap import share_heap

    check_address_space()
    share_heap()


def _takes_text() -> bool:
    """Whether the terminal accepts output now: printing to a suspended one would block."""
    return bool(select.select([], [sys.stdout], [], 0)[1])


def _end_with_terminal() -> None:
    """Exit when the terminal is gone, with or without SIGHUP. Its writer then blocks for ever and its reader spins: a screen
    that nobody sees must not take a core from the job."""
    gone = select.poll()
    gone.register(0, 0)  # no event is requested, so only a hang-up or an error ends the wait
    gone.poll()
    time.sleep(_LEAVE_S)
    os._exit(128 + signal.SIGHUP)


def print_stream(
    target_pid: int | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    interval_s: float,
    symptoms: SymptomConfig,
) -> None:
    """One snapshot a line, until the job has ended."""
    from hwtop.feed.live import LIVE_STACK_BUDGET_PCT
    from hwtop.feed.watch import watch
    from hwtop.report.frame.json_report import snapshot
    from hwtop.report.json_text import encode

    for frame in watch(
        target_pid,
        seconds=math.inf,
        interval_s=interval_s,
        log_globs=logs,
        gpus=gpus,
        symptoms=symptoms,
        stack_budget_pct=LIVE_STACK_BUDGET_PCT,
    ):
        print(encode(snapshot(frame), indent=0), flush=True)


def print_once(
    target_pid: int | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    options: ScreenOptions,
    symptoms: SymptomConfig,
) -> None:
    """The screen as text, as wide as the terminal."""
    import shutil

    from hwtop.feed.watch import VERDICT_S, first_verdict, watch
    from hwtop.job.log.own_report import signed
    from hwtop.ui import themes
    from hwtop.ui.pictures import screenshot

    themes.check(options.theme)
    with contextlib.closing(
        watch(target_pid, seconds=VERDICT_S, log_globs=logs, gpus=gpus, symptoms=symptoms)
    ) as coming:
        frame = first_verdict(coming)
    width, height = shutil.get_terminal_size((120, 40))
    size = (min(width, LARGEST[0]), min(max(height, 40), LARGEST[1]))
    print(signed(screenshot.text(options.opened(frame), size, ascii=options.is_ascii) + "\n"), end="")
