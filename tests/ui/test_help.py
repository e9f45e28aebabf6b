"""The help: every key, the filter language and the symptoms, found as one types."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from hwtop.symptoms.records import records
from hwtop.ui import help_lines
from hwtop.ui.app import HwtopApp
from hwtop.ui.keys import names as key_names
from hwtop.ui.pages import actions
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.screens.monitor import MonitorScreen
from hwtop.ui.view import View
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text

SIZES = [(80, 24), (60, 15), (120, 40), (200, 60)]


def texts(view: View | None, size: tuple[int, int] = (80, 24), typed: str = "") -> list[str]:
    """All rows of the help, however far one must scroll."""
    shown = help_lines.draw(view, size, typed)
    rows = [line.text for line in shown.lines]
    for scroll in range(4, shown.most + 4, 4):
        rows += [line.text for line in help_lines.draw(view, size, typed, scroll).lines]
    return rows


def found(typed: str, view: View | None = None) -> list[str]:
    """What a search leaves, without frame and titles."""
    rows = texts(view or View(frame=frames.hang()), (80, 200), typed)
    return [row.strip("│ ") for row in rows[2:-1] if row.startswith("│   ")]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_key_can_be_read_at_any_size(size: tuple[int, int]) -> None:
    words = " ".join(texts(View(frame=frames.hang()), size)).split()
    for binding in actions.every():
        for key in key_names.held(binding.id, actions.defaults()):
            assert key_names.name(key) in words, (binding.id, key)


@pytest.mark.parametrize("size", [*SIZES, (20, 5), (1, 1)], ids=str)
def test_it_fits(size: tuple[int, int]) -> None:
    for typed in ("", "filter", "no such thing"):
        shown = help_lines.draw(View(frame=frames.hang()), size, typed, 5)
        assert (shown.width, shown.height) <= size
        assert len(shown.lines) == shown.height
        assert {line.width for line in shown.lines} == {shown.width}


def test_a_wide_terminal_shows_all_at_once_in_columns() -> None:
    assert help_lines.draw(View(frame=frames.hang()), (80, 24)).most > 0
    assert help_lines.draw(View(frame=frames.hang()), (200, 60)).most == 0


@pytest.mark.parametrize("page", PAGES)
def test_what_this_page_can_do_stands_first(page: str) -> None:
    titles = [title for title, _ in help_lines.groups(View(frame=frames.hang(), page=page))]
    assert titles[0] in (f"Here: {page}", "Everywhere")
    assert f"On {page}" not in titles


def test_a_search_finds_keys_words_filters_and_symptoms() -> None:
    assert found("F9")[0].startswith("k F9")
    assert found("O") != found("o"), "upper and lower case are two keys"
    assert any("gpu=3" in row for row in found("filter lang"))
    assert any(row.startswith("straggler-rank") for row in found("straggler"))
    assert any(row.startswith("p ") for row in found("back now pause")), "each word, in any order"
    assert any("nothing found" in row for row in texts(None, (80, 24), "xyzzy"))
    assert len(found("symptom")) >= len(records())


def test_few_hits_have_the_whole_width() -> None:
    rows = texts(None, (160, 50), "fold in an issue")
    assert any("Copy the conclusion of this page, with a report to fold in an issue (OSC 52)" in row for row in rows)


def test_a_keymap_of_the_persons_own_holds() -> None:
    rows = found("pause back to now", View(frame=frames.hang(), keymap={"pause": "ctrl+o,Z"}))
    assert rows[0].startswith("Ctrl-O Z ")


def test_readonly_has_no_keys_that_change_the_job() -> None:
    rows = texts(View(frame=frames.hang(), is_readonly=True), (80, 200))
    assert not any("asks first" in row for row in rows)


def test_without_a_job_only_what_can_be_done_stands_first() -> None:
    title, rows = help_lines.groups(View(frame=frames.picker()))[0]
    assert title == "Here: no job yet"
    assert "Attach to the job; open what is selected, e.g. a long log line" in [row.text for row in rows]
    assert not any("new log lines" in row.text for row in rows)


def test_typing_searches_and_escape_clears_then_closes() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for key in ("question_mark", "h", "f1"):
            await pilot.press(key, *"paws", "backspace", "backspace", *"use")
            rows = screen_text(app)
            assert any("search: pause▏" in row for row in rows)
            assert any("back to now" in row for row in rows)
            assert not any("Quit; the last verdict" in row for row in rows)
            await pilot.press("escape")
            assert any("type to search" in row for row in screen_text(app))
            await pilot.press("escape")
            assert isinstance(app.screen, MonitorScreen)
        for key in ("question_mark", "q", "enter", "f1"):
            await pilot.press("question_mark", key)
            assert isinstance(app.screen, MonitorScreen), key
        assert app.is_running
        await pilot.press("question_mark", "f10")
        assert app._exit

    drive(act, frames.healthy(), size=(80, 24))


def test_keys_in_one_piece_are_taken_once_each() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        for key, character in (("question_mark", "?"), ("a", "a"), ("b", "b"), ("backspace", "\x7f"), ("c", "c")):
            app.post_message(events.Key(key, character))
        await pilot.pause()
        await pilot.pause()  # what the monitor has handed on
        assert any("search: ac▏" in row for row in screen_text(app))

    drive(act, frames.healthy(), size=(80, 24))


def test_scrolling_ends_at_the_last_line() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("question_mark", "end", "pagedown", "down")
        await pilot.pause()
        assert any("fields" in row for row in screen_text(app))
        await pilot.press("up", "pageup", "home")
        await pilot.pause()
        assert any("Quit; the last verdict" in row for row in screen_text(app))

    drive(act, frames.healthy(), size=(80, 24))


def test_each_page_is_named_beside_its_key() -> None:
    words = " ".join(texts(View(frame=frames.hang()), (200, 60)))
    for page in PAGES:
        assert ("GPUs: " if page == "gpu" else f"{page.capitalize()}: ") in words
    assert "GPUs: GPUs" not in words
