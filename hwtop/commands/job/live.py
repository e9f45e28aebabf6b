"""`hwtop [PID]`: the screen."""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import select
import shutil
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from hwtop.commands.shared import first_run, screen
from hwtop.commands.shared.options import on_finding, reading, settings_of
from hwtop.commands.shared.target import target, target_or_none
from hwtop.commands.shared.values import LARGEST
from hwtop.commands.shared.watching import Watching
from hwtop.config import SymptomConfig
from hwtop.errors import CannotError
from hwtop.leaving import interruptible

if TYPE_CHECKING:
    from hwtop.ui.options import ScreenOptions, Send, Source

_LEAVE_S = 2.0
"""How long a screen whose terminal is gone may take to exit."""


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
        from hwtop.report.frame.wait import incident_words

        words, command = incident_words(saved)
        with contextlib.suppress(OSError):  # the terminal itself may be gone
            _print_wrapped(f"hwtop: {words}; see")
            print(f"    {command}", flush=True)  # whole, so that it can be copied


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

    themes.check(opening.options.theme)
    if not _has_terminal():
        raise CannotError(
            "the screen needs a terminal; without one use `hwtop diagnose PID`, `hwtop PID --once` or `hwtop replay FILE --diagnose`"
        )
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]  # Textual draws on it: `2>errors.txt` must not blank the screen
    _make_room()
    terminal.check()
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
            if app.last_frame.derived.job is not None:
                _print_wrapped(f"hwtop: {visible(app.last_frame.verdict.text)}")
            for failure in dict.fromkeys(failures):
                _print_wrapped(f"hwtop: {failure}")


def _print_wrapped(text: str) -> None:
    """Between words, where the terminal would break them."""
    width = shutil.get_terminal_size().columns
    print(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False), flush=True)


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

    from hwtop.feed.watch import first_verdict, watch
    from hwtop.job.log.own_report import signed
    from hwtop.symptoms.verdict import VERDICT_S
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
