"""What differs between pages is said by the pages: nothing else compares `view.page`, but panels and reducers with their
own page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import hwtop.ui
from hwtop.ui.pages import actions
from hwtop.ui.pages.layout import arrange
from hwtop.ui.pages.registry import NAMES, PAGES
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.view import View
from tests import frames

UI = Path(hwtop.ui.__file__).parent
OWN = {**{f"panels/{name}": name for name in NAMES}, "panels/stacks": "flame"}
"""Folder of panels -> the page that they belong to: elsewhere they have neither its filter nor its order."""


def compared(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Line and page names of each comparison with `view.page`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        if any(
            isinstance(side, ast.Attribute) and ast.unparse(side) in ("view.page", "self.view.page") for side in sides
        ):
            names = {each.value for side in sides for each in ast.walk(side) if isinstance(each, ast.Constant)}
            yield node.lineno, {name for name in names if name in NAMES}


def test_only_pages_ask_which_page_is_shown() -> None:
    wrong = []
    for file in sorted(UI.rglob("*.py")):
        place = file.relative_to(UI).as_posix()
        if place.startswith("pages/"):
            continue
        own = {OWN.get(file.parent.relative_to(UI).as_posix(), ""), OWN.get(f"panels/{file.stem}", "")}
        wrong += [f"{place}:{line}: {names}" for line, names in compared(ast.parse(file.read_text())) if names - own]
    assert not wrong, "\n".join(wrong)


def test_the_comparisons_are_found() -> None:
    code = 'if view.page == "gpu" or view.page not in ("logs", "ranks"): pass'
    assert [names for _, names in compared(ast.parse(code))] == [{"gpu"}, {"logs", "ranks"}]


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
