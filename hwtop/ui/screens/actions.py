"""What a person may do to the job: signals and deep looks. Each is a menu, then a question whose default answer is No."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from textual.screen import Screen

from hwtop.fields import units
from hwtop.job.launch import signals
from hwtop.job.launch.signals import SIGNALS, Target
from hwtop.job.stacks import deep_looks
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.member import JobProcess
from hwtop.model.plan import Request, RequestKind
from hwtop.model.signal import SignalOrder, SignalTarget
from hwtop.model.stack import DeepDump
from hwtop.ui.keys import names as key_names
from hwtop.ui.menu import Choice, Menu
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import actions
from hwtop.ui.pages.registry import current
from hwtop.ui.panels import consent
from hwtop.ui.panels.processes.tree import TreeRow
from hwtop.ui.screens.dialog import ConfirmScreen, MenuScreen, TextScreen
from hwtop.ui.signalled import Signalled, signalled
from hwtop.ui.tables import tags
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

Look = Callable[..., None]
"""Changes fields of the View, `note` and `request` among them."""

_PATIENCE_S = 60.0
"""A deep look has given up on its own by then."""
_MOST_NAMES = 64
"""Processes that a question names one by one."""


class JobActions:
    """Asks, confirms, sends, and shows the answer. Nothing happens to the job without a second key."""

    def __init__(self, screen: Screen[None], options: ScreenOptions, look: Look) -> None:
        self._screen = screen
        self._options = options
        self._look = look
        self._waiting: tuple[Request, float] | None = None
        self._sent: Signalled | None = None
        self._now_s = 0.0

    def adopt(self, options: ScreenOptions) -> None:
        """Ask and draw as these say from now on."""
        self._options = options

    def signal(self, view: View) -> None:
        """The menu of signals for what is selected."""
        job, send = view.job, self._options.send
        if job is None or send is None:
            return
        row = current(view).row(view)
        pid = row.process.pid if row and row.folded_pid is None else None
        found = signals.targets(job, pid, view.selected, _groups(view, row))
        if not found:
            self._look(note="no process of the job is alive: there is nothing to signal")
            return
        menus = [partial(_signal_menu, target, index, len(found)) for index, target in enumerate(found)]

        def picked(value: tuple[str, Target] | None) -> None:
            if value is None:
                return
            name, target = value

            def confirmed(is_yes: bool | None) -> None:
                if not is_yes:
                    self._look(note="nothing was sent")
                else:
                    answers = send(_order(name, target))
                    self._sent = signalled(name, target.processes, answers, self._now_s, job.target_pid)
                    self._look(note=self._sent.words())

            self._ask(f"{name} to {target.title}?", _signal_words(name, target, job), f"send {name}", confirmed)

        self._screen.app.push_screen(MenuScreen(menus, is_ascii=self._options.is_ascii), picked)

    def deep(self, view: View) -> None:
        """The menu of deep looks at the selected process or rank, and of answers that are there already."""
        job = view.job
        process = current(view).process(view)
        if job is None or process is None:
            self._look(note="no process of a rank is alive: there is nothing to inspect")
            return
        menu = _deep_menu(view, job, process, has_pystack=self._options.has_pystack)

        def picked(value: RequestKind | DeepDump | None) -> None:
            if isinstance(value, DeepDump):
                self._show(value, job)
            elif value == "sudo":
                self._ask(
                    "Read stacks as root?", _SUDO_WORDS, "use sudo -n", partial(self._allow_sudo, process.pid, view)
                )
            elif value is not None:
                choice = next(choice for choice in menu.choices if choice.value == value)
                self._ask(
                    f"{choice.label} of {signals.title(process)}?" if value != "flight-pipe" else f"{choice.label}?",
                    [Line(f"It {choice.about}.", "warn"), Line(process.command, "dim")],
                    "look" if value != "flight-pipe" else "ask for the dump",
                    lambda is_yes: self._request(value, process.pid, view) if is_yes else None,
                )

        self._screen.app.push_screen(MenuScreen([lambda: menu], is_ascii=self._options.is_ascii), picked)

    def see(self, frame: Frame) -> None:
        """Say what has come of a signal. Show the answer to the newest request once it is there; say how long it has been
        waited for until then."""
        self._now_s = frame.derived.at_s
        if self._sent is not None:
            result = self._sent.result(frame)
            if result is not None or self._sent.is_over(frame):
                self._sent = None
            if result is not None:
                self._look(note=result)
        if self._waiting is None:
            return
        request, asked_at_s = self._waiting
        job, waited_s = frame.derived.job, frame.derived.at_s - asked_at_s
        answer = next((dump for dump in job.stacks.deep if dump.request == request.number), None) if job else None
        if answer is not None and job is not None:
            self._waiting = None
            self._look(note="")
            if not self._screen.app.screen.is_modal:
                self._show(answer, job)
            else:
                self._look(
                    note=f"the deep look has been answered: {key_names.first('deep', actions.complete(self._options.keymap))} lists it"
                )
        elif job is None or waited_s > _PATIENCE_S:
            self._waiting = None
            self._look(note=f"no answer to the deep look at PID {request.pid}")
        else:
            self._look(note=f"reading PID {request.pid} … {units.duration(max(0.0, waited_s))}")

    def _allow_sudo(self, pid: int, view: View, is_yes: bool | None) -> None:
        self._look(is_sudo_answered=True)
        if is_yes:
            self._request("sudo", pid, view)

    def _request(self, kind: RequestKind, pid: int, view: View) -> None:
        request = Request(number=next(self._options.numbers), kind=kind, pid=pid)
        if kind not in _NOTES:
            self._waiting = (request, view.frame.derived.at_s)
        self._look(request=request, note=_NOTES.get(kind, f"reading PID {pid} …"))

    def _show(self, dump: DeepDump, job: Job) -> None:
        process = next((item for item in job.processes if item.pid == dump.pid), None)
        name = signals.title(process) if process is not None else f"PID {dump.pid}"
        self._screen.app.push_screen(
            TextScreen(f"{_KINDS[dump.kind]} of {name}", _dump_lines(dump), is_ascii=self._options.is_ascii)
        )

    def _ask(self, title: str, head: Sequence[Line], yes: str, then: Callable[[bool | None], None]) -> None:
        self._screen.app.push_screen(ConfirmScreen(title, head, yes, is_ascii=self._options.is_ascii), then)


_SUDO_WORDS = (
    Line("It runs py-spy as root with sudo -n, for all processes of the job, until hwtop exits.", "warn"),
    Line("sudo asks for no password: where it needs one, it refuses. This is asked once a session.", "text"),
)
_NOTES: dict[RequestKind, str] = {
    "flight-pipe": "the ranks are asked for their Flight Recorder dumps: what they say appears on the stacks page",
    "sudo": "stacks are read as root from now on, if sudo asks for no password",
}
"""Of requests that no `DeepDump` answers."""
_KINDS = {"native": "C and Python stacks", "pystack": "Native stacks (pystack)", "faulthandler": "faulthandler"}


def _signal_menu(target: Target, index: int, count: int) -> Menu[tuple[str, Target]]:
    head = [Line(f"to {target.title}", "accent")]
    if len(target.processes) == 1:
        head.append(Line(target.processes[0].command[:300], "dim"))
    choices = tuple(
        Choice(
            name,
            (name, target),
            signals.effect(name, target),
            role="bad" if signals.harms(name, target) else "strong",
        )
        for name in SIGNALS
    )
    others = (("← →", f"another target ({index + 1} of {count})"),) if count > 1 else ()
    return Menu("Send a signal", choices, tuple(head), (*others, ("Enter", "next"), ("Esc", "leave")))


def _signal_words(name: str, target: Target, job: Job) -> list[Line]:
    """What the person must know before saying yes: to whom, what it does, what follows."""
    effect = signals.effect(name, target)
    lines = [Line(f"{effect[0].upper()}{effect[1:]}.", "warn" if signals.harms(name, target) else "text")]
    after = signals.aftermath(name, target, job)
    if after:
        lines.append(Line(after, "warn"))
    if len(target.processes) == 1:
        lines.append(Line(target.processes[0].command[:600], "dim"))
    else:
        names = ", ".join(signals.title(process) for process in target.processes[:_MOST_NAMES])
        more = len(target.processes) - _MOST_NAMES
        lines.append(Line(f"To {names}{f' and {more} more' if more > 0 else ''}.", "text"))
    return [*lines, Line(f"Job: {signals.job_title(job)[:300]}", "dim")]


def _groups(view: View, row: TreeRow | None) -> list[tuple[str, tuple[JobProcess, ...]]]:
    """What is tagged, and the folded branch under the cursor."""
    tagged = tags.tagged(view)
    groups = [(f"{len(tagged)} tagged processes", tagged)] if tagged else []
    if row is not None and row.folded_pid is not None:
        of = "" if row.rank is None else f" of rank {row.rank}"
        groups.append((f"{row.name.removeprefix('+ ')}{of}", row.processes))
    return groups


def _order(name: str, target: Target) -> SignalOrder:
    known = [process for process in target.processes if process.start_ticks is not None]
    return SignalOrder(
        signal=name,
        targets=tuple(SignalTarget(pid=process.pid, start_ticks=cast("int", process.start_ticks)) for process in known),
    )


def _deep_menu(view: View, job: Job, process: JobProcess, *, has_pystack: bool) -> Menu[RequestKind | DeepDump]:
    now_s = view.frame.derived.at_s
    choices: list[Choice[Any]] = [
        Choice(choice.label, choice.kind, choice.what_it_does, refusal=choice.refusal)
        for choice in deep_looks.possible(process, has_pystack=has_pystack)
    ]
    if any(target.pipe for target in job.flight.targets):
        about = "writes a byte to the Flight Recorder pipe of every rank here: each writes its dump and goes on"
        choices.append(Choice("Flight Recorder: dump now", "flight-pipe", about))
    if consent.is_open(view):
        choices.append(Choice("Python stacks as root", "sudo", "runs py-spy as root with sudo -n, until hwtop exits"))
    for dump in reversed(job.stacks.deep):
        name = signals.title(process) if dump.pid == process.pid else f"PID {dump.pid}"
        about = f"answered {units.duration(max(0.0, now_s - dump.at_s))} ago" + (", refused" if dump.error else "")
        choices.append(Choice(f"show: {_KINDS[dump.kind]} of {name}", dump, about, role="text"))
    head = (Line(f"into {signals.title(process)}", "accent"), Line(process.command[:300], "dim"))
    return Menu("Look deeper", tuple(choices), head, (("Enter", "next"), ("Esc", "leave")))


def _dump_lines(dump: DeepDump) -> list[Line]:
    lines: list[Line] = []
    if dump.error is not None:
        lines.append(Line("▲ ", "warn").add(dump.error, "strong"))
    if dump.advice:
        lines.append(Line("→ ", "accent").add(dump.advice, "accent"))
    if lines and dump.text:
        lines.append(Line())
    lines += [Line(text, "text") for text in dump.text.splitlines()]
    return lines or [Line("◌ it printed nothing", "dim")]
