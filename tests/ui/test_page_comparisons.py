"""What differs between pages is said by the pages: nothing else asks which one is shown."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec.structs import replace

import hwtop.ui
from hwtop.ui.pages import actions
from hwtop.ui.pages.layout import arrange
from hwtop.ui.pages.registry import PAGES
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.view import View
from tests import frames

UI = Path(hwtop.ui.__file__).parent
MAY = ("pages/", "settings/", "view.py")
"""The settings have pages of their own; the view only changes its page."""


def asked(code: str) -> list[str]:
    """Where `code` reads the page of a view, in whatever way it goes on with it."""
    return [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute) and node.attr == "page"
    ]


def test_only_pages_ask_which_page_is_shown() -> None:
    wrong = {
        place: found
        for file in UI.rglob("*.py")
        if not (place := file.relative_to(UI).as_posix()).startswith(MAY) and (found := asked(file.read_text()))
    }
    assert not wrong


def test_the_questions_are_found() -> None:
    assert asked('if view.page == "gpu":\n    here = after.page') == ["1: view.page", "2: after.page"]
    assert asked("view = replace(view, page=name)") == []


def test_each_panel_is_defined_by_one_page() -> None:
    panels = [name for page in PAGES for name in page.panels]
    assert len(panels) == len(set(panels))


def test_what_a_page_binds_and_offers_is_an_action() -> None:
    known = actions.by_id().keys()
    for page in PAGES:
        assert page.keys.keys() | page.lists <= known, page.name
        offered = {each for ids, _ in page.offers(View(frame=frames.hang(), page=page.name)) for each in ids}
        assert offered <= known, page.name


def test_the_places_of_a_view_are_worked_out_once() -> None:
    view = View(frame=frames.hang())
    assert arrange(view, 120, 40) is arrange(view, 120, 40)
    assert arrange(view, 80, 24) is not arrange(view, 120, 40)
    assert "gpu-list" in arrange(replace(view, page="gpu"), 120, 40)


def test_a_page_that_is_as_at_the_start_leaves_no_trace_in_the_view() -> None:
    view = View(frame=frames.hang())
    changed = view.with_state(LogsState(is_following=False))
    assert changed != view
    assert not changed.state(LogsState).is_following
    assert changed.with_state(LogsState()) == view
