"""Every key of the monitor, each pressed once in one running app: a person must see what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec import Struct
from textual.pilot import Pilot

from hwtop.errors import UsageError
from hwtop.model.frame import Frame
from hwtop.ui.app import HwtopApp
from hwtop.ui.keys.action import Action
from hwtop.ui.keys.keymap import keymap
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import actions, registry
from hwtop.ui.screens.monitor import MonitorScreen
from tests import fleets, frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text


class Case(Struct, frozen=True):
    """Keys that lead there; what the screen (a regular expression) shows after the key and not before, or no longer."""

    before: tuple[str, ...] = ()
    shows: str = ""
    hides: str = ""
    is_fleet: bool = False
    """Of a job over several nodes."""


RANK_2 = ("2", "up", "up", "up")
"""On the ranks page with rank 2 selected: the first step is from the blamed one, 5."""
CASES: dict[str, Case] = {
    "help": Case(shows="type to search"),
    "palette": Case(shows="─ Commands ─"),
    "settings": Case(shows="settings cannot be changed from here"),
    "fleet": Case(("1",), "─ Table of nodes", is_fleet=True),
    "heat": Case(shows="Nodes  power", is_fleet=True),
    "overview": Case(("2",), "What is wrong"),
    "ranks": Case(shows="Ranks  by number"),
    "stacks": Case(shows="Stack of rank"),
    "flame": Case(shows="Flame of rank"),
    "logs": Case(shows="Logs of all ranks"),
    "logs-or-files": Case(shows="Logs of all ranks"),
    "curves": Case(shows="─ Curves ─"),
    "gpu": Case(shows="─ Topology ─"),
    "host": Case(shows="Is it the machine"),
    "processes": Case(shows="─ Processes "),
    "symptoms": Case(shows="─ Symptoms ─"),
    "jobs": Case(("2",), "What is wrong"),
    "next-page": Case(shows="Ranks  by number"),
    "previous-page": Case(shows="─ Symptoms ─"),
    "down": Case(("2",), "▸      6|Rank 6 "),
    "up": Case(RANK_2, "Rank 1 "),
    "right": Case(("6",), "▸ Gradient norm ─"),
    "left": Case(("6", "right"), "▸ Loss ─"),
    "next-rank": Case(RANK_2, "Rank 3 "),
    "previous-rank": Case(RANK_2, "Rank 1 "),
    "page-down": Case(("9",), "▸   41025"),
    "page-up": Case(("9", "end"), "▸   41061"),
    "start": Case(("9", "end"), "▸   41000"),
    "end": Case(("9",), "▸   41079"),
    "choose": Case(RANK_2, "Stack of rank 2"),
    "next-panel": Case(shows="▸ GPUs"),
    "previous-panel": Case(shows="▸ Host"),
    "panel-left": Case(("6",), "▸ Curves ─"),
    "panel-right": Case(("6", "ctrl+left"), "▸ Loss ─"),
    "panel-up": Case(("w", "w"), "▸ GPUs"),
    "panel-down": Case(shows="▸ GPUs"),
    "panel-alone": Case(hides="─ GPUs ─"),
    "panel-hide": Case(("w",), hides=" GPUs ─"),
    "panel-all": Case(("w", "x"), " GPUs ─"),
    "tag": Case(("9",), "•"),
    "untag": Case(("9", "space"), hides="•"),
    "sort-cpu": Case(("2",), "most CPU first"),
    "sort-mem": Case(("9",), "most memory first"),
    "tree": Case(("9",), hides="[├└] rank"),
    "branches": Case(("9",), hides="loader-worker"),
    "environment": Case(("9",), "Environment"),
    "signal": Case(shows="Send a signal"),
    "deep": Case(("3",), "Look deeper"),
    "copy": Case(shows="clipboard: "),
    "copy-line": Case(shows="clipboard: "),
    "picture": Case(shows="hwtop screenshot"),
    "picture-options": Case(shows="hwtop screenshot"),
    "bundle": Case(shows="hwtop bundle PID"),
    "record": Case(shows="hwtop record"),
    "order": Case(("2",), hides="by number"),
    "reverse": Case(("2",), "rank↓"),
    "log-scale": Case(("6",), "Loss  log scale"),
    "filter": Case(("2",), " / ▏"),
    "search": Case(shows="search: ▏"),
    "next-flagged": Case(("5",), "▸"),
    "previous-flagged": Case(("5",), "▸"),
    "follow": Case(("5",), "held"),
    "others": Case(("5", "n"), "Last line of each"),
    "faster": Case(shows="every 0.5 s"),
    "slower": Case(shows="every 2 s"),
    "clear": Case(RANK_2, hides="▸      2"),
    "pause": Case(shows="PAUSED"),
    "step-back": Case(shows="PAUSED"),
    "step-on": Case(("left_square_bracket", "left_square_bracket"), hides="4 s ago"),
    "turn-back": Case(shows="PAUSED"),
    "turn-on": Case(("left_curly_bracket",), hides="PAUSED"),
    "go-to-time": Case(shows="go to time: ▏"),
}
"""Id of the binding -> what it does."""
LEAVES = {"quit", "interrupt", "suspend", "repaint"}
"""Those that do something beyond the picture: tested below."""


def bindings() -> Iterator[tuple[Action, str]]:
    """Each binding with each of its keys."""
    for binding in actions.every():
        for key in binding.key.split(","):
            yield binding, key


def test_every_key_has_a_case() -> None:
    ids = [binding.id for binding in actions.every()]
    assert len(set(ids)) == len(ids)
    assert set(ids) - CASES.keys() - LEAVES == set(), "add a case to CASES: what the screen shows after the key"
    assert (CASES.keys() | LEAVES) - set(ids) == set(), "no such key any more"


def test_no_key_is_that_of_two_actions() -> None:
    try:
        keymap({})
    except UsageError as error:
        pytest.fail(f"{error}; a key is free if docs/keys.md does not name it")


def test_every_key_has_a_word_and_an_explanation() -> None:
    for binding in actions.every():
        assert binding.description, binding.id
        assert len(binding.tooltip) > 6, f"{binding.id}: the help needs a line"


def watched() -> list[Frame]:
    """A job that was well and hangs: there is a past to go back to."""
    last = frames.hang()
    derived_states = [
        replace(last.derived, at_s=last.derived.at_s - s, time_s=last.derived.time_s - s) for s in (4, 2, 0)
    ]
    return [
        replace(
            last,
            number=number,
            derived=derived,
            watched_s=last.watched_s - 4 + 2 * number,
            findings=last.findings if number else (),
        )
        for number, derived in enumerate(derived_states)
    ]


@pytest.mark.slow
def test_every_key_does_what_a_person_can_see() -> None:
    wrong: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        monitor = app.screen
        assert isinstance(monitor, MonitorScreen)
        assert feed.publish is not None
        for frame in watched():
            feed.publish(frame)
            await pilot.pause()
        assert monitor.view is not None
        fresh = monitor.view
        over_nodes = registry.first(replace(fresh, frame=fleets.sick(4)))
        for binding, key in bindings():
            case = CASES.get(binding.id)
            if case is None:
                continue
            while app.screen_stack[-1] is not monitor:
                app.pop_screen()
            assert isinstance(monitor, MonitorScreen)
            monitor._set(over_nodes if case.is_fleet else fresh)
            await pilot.press(*case.before)
            await pilot.pause()
            before = "\n".join(screen_text(app))
            await pilot.press(key)
            await pilot.pause()
            after = "\n".join(screen_text(app))
            if not seen(case, before, after):
                wrong.append(f"{binding.id} ({key}): {case}")

    drive(act, options=ScreenOptions(send=lambda order: ()))
    assert not wrong, "\n".join(wrong)


def seen(case: Case, before: str, after: str) -> bool:
    """Whether the key made the difference that it is there for."""
    came = not case.shows or (re.search(case.shows, after) and not re.search(case.shows, before))
    went = not case.hides or (re.search(case.hides, before) and not re.search(case.hides, after))
    return bool((case.shows or case.hides) and came and went)


@pytest.mark.parametrize("key", ["q", "f10", "ctrl+c"])
def test_keys_that_leave(key: str) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press(key)
        assert app._exit

    drive(act, frames.healthy())


def test_keys_about_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(HwtopApp, "action_suspend_process", lambda _: done.append("suspended"))
    monkeypatch.setattr(HwtopApp, "on_send_all", lambda *_: done.append("sent again"))

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for key in ("ctrl+z", "r", "ctrl+l"):
            done.clear()
            await pilot.press(key)
            await pilot.pause()
            assert done == ["suspended" if key == "ctrl+z" else "sent again"], key

    drive(act, frames.healthy())


def test_readonly_keys_do_nothing_and_are_named_nowhere() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        monitor = app.screen
        await pilot.press("9")
        assert not re.search("signal|deep look", screen_text(app)[-1])
        await pilot.press("k", "f9", "d")
        assert app.screen is monitor
        for key in ("question_mark", "colon"):
            await pilot.press(key, *"signal")
            await pilot.pause()
            assert not any("asks first" in row for row in screen_text(app)), key
            await pilot.press("escape", "escape")

    drive(act, frames.hang(), options=ScreenOptions(is_readonly=True))
