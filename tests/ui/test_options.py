"""The screen of settings (F2), and keys of the person's own, as a person uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.config import Config, load, parse
from hwtop.config.file import save
from hwtop.errors import HwtopError, UsageError
from hwtop.ui import themes
from hwtop.ui.app import HwtopApp
from hwtop.ui.keys import names as key_names
from hwtop.ui.keys.keymap import keymap
from hwtop.ui.keys.words import key_of
from hwtop.ui.options import Changes, Saved, ScreenOptions, SettingsFile
from hwtop.ui.pages import actions
from hwtop.ui.pages import settings as settings_page
from hwtop.ui.pages.layout import picture
from hwtop.ui.pages.registry import NAMES as PAGES
from hwtop.ui.panels.logs.state import LogsState
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.screens.options import OptionsScreen
from hwtop.ui.settings import rows as settings_rows
from hwtop.ui.settings import view as settings_view
from hwtop.ui.settings.view import SettingsView
from hwtop.ui.view import View
from hwtop.ui.widgets.panel import Panel
from hwtop.ui.widgets.text import to_ascii
from tests import frames
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

Given = dict[tuple[str, ...], tuple[str, bool | int | float | str | tuple[str, ...]]]


def options(place: Path, text: str = "", *, flags: Given | None = None, is_readonly: bool = False) -> ScreenOptions:
    """As a command makes them, but the file is written at once."""
    if text:
        place.write_text(text)
    config = load(str(place)) if text else Config()

    def write(changes: Changes, reported: Saved) -> None:
        try:
            reported(save(place, changes))
        except HwtopError as error:
            reported(error)

    return ScreenOptions(
        theme=config.screen.theme,
        is_readonly=is_readonly or config.screen.readonly,
        send=None if is_readonly else lambda _: (),
        keymap=keymap(config.keys),
        settings=SettingsFile(str(place), config, write, flags or {}),
    )


def shown(app: HwtopApp) -> str:
    return "\n".join(line.text for line in app.screen.query_one(Panel).lines)


def test_what_is_chosen_holds_at_once_and_is_saved(tmp_path: Path) -> None:
    place = tmp_path / "new" / "config.toml"

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2")
        assert "interval" in shown(app)
        await pilot.press("enter", *["backspace"] * 2, "2", "s", "enter")
        assert feed.intervals == [2.0]
        assert view_of(app).interval_s == 2.0
        before = app.theme
        await pilot.press("down", "right")
        assert app.theme != before, "seen while it is chosen"
        await pilot.press("down", "space", "down", "down", "right")
        assert app.options.is_ascii
        assert shown(app).isascii() is False, "the lines stay; the panel draws them in ASCII"
        assert app.screen.query_one(Panel).is_ascii
        assert view_of(app).is_readonly
        assert "4 not saved" in shown(app)
        await pilot.press("s")
        await pilot.pause()
        assert "saved to" in shown(app)
        assert "not saved" not in shown(app)

    drive(act, frames.healthy(), options=options(place))
    said = load(str(place)).screen
    assert (said.interval, said.ascii, said.readonly) == ("2s", True, True)
    assert said.theme == "hwtop", "the first theme after auto"


def test_a_key_of_ones_own_works_at_once_and_is_named(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("Z")
        assert view_of(app).is_paused
        await pilot.press("p")
        assert view_of(app).is_paused, "it is no key any more"
        await pilot.press("Z", "f2", "slash", *"pause", "enter")
        await pilot.press("enter", "ctrl+u", "f7", *" V", "enter", "escape")
        await pilot.press("f7")
        assert view_of(app).is_paused
        await pilot.press("Z")
        assert view_of(app).is_paused
        assert key_names.first("pause", view_of(app).keymap) == "F7"
        await pilot.press("V")
        assert not view_of(app).is_paused

    drive(act, frames.healthy(), options=options(place, '[keys]\npause = "Z"\n'))


def test_what_cannot_be_is_told_in_words_and_changes_nothing(tmp_path: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2", "enter", "ctrl+u", *"often", "enter")
        assert "▲ 'often' is not a valid time" in shown(app)
        await pilot.press("escape", "slash", *"order", "enter", "enter", "ctrl+u", "q", "enter")
        assert "q is a key of 'quit' already" in shown(app)
        await pilot.press("escape", "s")
        assert "nothing to save" in shown(app)
        await pilot.press("slash", *"zzz")
        assert "no setting has 'zzz'" in shown(app)
        await pilot.press("escape", "escape")
        assert not isinstance(app.screen, OptionsScreen)
        assert feed.intervals == []

    drive(act, frames.healthy(), options=options(tmp_path / "c.toml"))


def test_a_file_that_went_wrong_meanwhile_is_left_alone(tmp_path: Path) -> None:
    place, text = tmp_path / "config.toml", "[screen\n"

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        place.write_text(text)
        await pilot.press("f2", "down", "right", "s")
        await pilot.pause()
        assert "▲" in shown(app)
        assert "1 not saved" in shown(app)

    drive(act, frames.healthy(), options=options(place, "[screen]\nascii = false\n"))
    assert place.read_text() == text


def test_a_flag_goes_before_the_file_and_what_is_not_saved_waits(tmp_path: Path) -> None:
    flags: Given = {("screen", "theme"): ("--theme", "nord")}
    given = options(tmp_path / "c.toml", '[screen]\ntheme = "light"\n', flags=flags)

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2", "down")
        assert "‹ nord ›" in shown(app) and "--theme" in shown(app)
        await pilot.press("right", "tab", "down", "space", "escape")
        assert app.theme == "rose-pine"
        assert app.options.alerts.bell
        note = "2 changed settings not saved: kept until hwtop ends; F2, then s saves"
        assert any(note in row for row in screen_text(app)), "leaving says so"
        await pilot.press("f2")
        assert "2 not saved" in shown(app)
        await pilot.press("delete")
        assert not app.options.alerts.bell

    drive(act, frames.healthy(), options=given)
    assert load(str(tmp_path / "c.toml")).screen.theme == "light"


def test_what_keys_have_changed_can_be_saved(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2")
        assert "not saved" not in shown(app), "nothing was changed yet"
        await pilot.press("escape", "plus", "ctrl+right", "x")
        hidden = view_of(app).hidden
        assert hidden
        await pilot.press("f2")
        assert "2 not saved" in shown(app)
        await pilot.press("s", "escape")
        assert view_of(app).hidden == hidden and view_of(app).interval_s == 2.0
        assert frozenset(load(str(place)).panels.hide) == hidden
        await pilot.press("X", "f2")
        assert "1 not saved" in shown(app)
        await pilot.press("s", "escape")
        assert not view_of(app).hidden

    drive(act, frames.healthy(), options=options(place))
    assert load(str(place)).screen.interval == "2s"
    assert not load(str(place)).panels.hide


def test_settings_can_be_saved_with_readonly(tmp_path: Path) -> None:
    place = tmp_path / "config.toml"

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2")
        assert "the job is left alone, settings can be saved" in shown(app)
        await pilot.press("down", "down", "space", "s", "down", "down", "space", "space")
        assert "applies at the next start" in shown(app)
        await pilot.press("escape")
        assert view_of(app).is_readonly, "what was taken away at the start does not come back"

    drive(act, frames.healthy(), options=options(place, is_readonly=True))
    assert load(str(place)).screen.ascii


def test_without_a_file_it_says_so() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2")
        assert "cannot be changed from here" in view_of(app).note

    drive(act, frames.healthy())


def test_the_mouse_chooses_and_changes(tmp_path: Path) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("f2")
        row = next(number for number, line in enumerate(shown(app).splitlines()) if " mouse " in line)
        await pilot.click(Panel, offset=(6, row))
        await pilot.click(Panel, offset=(6, row))
        assert "1 not saved" in shown(app)
        await pilot.click(Panel, offset=(shown(app).splitlines()[1].index("alerts"), 1))
        assert "webhook" in shown(app)

    drive(act, frames.healthy(), options=options(tmp_path / "c.toml"), size=(80, 24))


def test_no_tab_is_cut_and_the_marks_for_the_others_lead_there() -> None:
    names = [section.name for section in settings_rows.sections()]
    for number in range(len(names)):
        view = replace(SettingsView(Config(), Config()), section=number)
        tabs = [line.text for line in settings_page.draw(view, "", 60, 14)][1]
        assert set(tabs.split()) - {"│", "‹", "›"} <= set(names), tabs
        assert names[number] in tabs.split()
        if "›" in tabs:
            place = settings_page.section_at(view, tabs.index("›"), 60)
            assert place is not None
            assert names[place] not in tabs.split()


def every_page() -> list[SettingsView]:
    first = SettingsView(Config(), Config())
    pages = [settings_view.turned(first, number) for number in range(len(settings_rows.sections()))]
    return [*pages, settings_view.opened(pages[0]), settings_view.sought(pages[0], "hang")]


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (200, 60), (59, 10), (30, 6), (8, 3), (2, 1)], ids=str)
def test_any_size_is_filled_exactly(size: tuple[int, int]) -> None:
    for view in every_page():
        width, height = settings_page.size(view, *size)
        lines = settings_page.draw(view, "/home/me/.config/hwtop/config.toml", width, height)
        assert [line.width for line in lines] == [width] * height
        drawn = "".join(line.text for line in lines)
        assert to_ascii(drawn).count("?") == drawn.count("?"), "each character has a stand-in"


def test_every_setting_can_be_stepped_or_typed_and_set_back() -> None:
    for section in range(len(settings_rows.sections())):
        view = settings_view.turned(SettingsView(Config(), Config()), section)
        for row in range(len(view.page.rows)):
            here = settings_view.moved(settings_view.moved(view, -10_000), row)
            assert here.here.about, here.here.path
            changed = settings_view.stepped(here, 1)
            if here.here.kind not in ("text", "names"):
                assert changed.changes or changed.is_refused, here.here.path
            assert settings_view.reset(changed).draft == Config()
            again = settings_view.opened(here)
            if again.typed is not None:
                assert settings_view.entered(again).draft == Config(), here.here.path


def test_a_symptom_is_on_quiet_or_off() -> None:
    view = settings_view.sought(SettingsView(Config(), Config()), "loss-plateau")
    quiet = settings_view.stepped(view, 1)
    off = settings_view.stepped(quiet, 1)
    assert quiet.changes == {("symptoms", "quiet"): ("loss-plateau",)}
    assert off.changes == {("symptoms", "off"): ("loss-plateau",)}
    assert settings_view.stepped(off, 1).changes == {}


def test_every_usual_key_is_understood_as_it_is_named() -> None:
    for binding in actions.every():
        for key in key_names.held(binding.id, actions.defaults()):
            if key != "ctrl+c":
                assert key_of(key_names.name(key)) == key == key_of(key)
    assert keymap({}) == {}


@pytest.mark.parametrize(
    ("written", "keys"),
    [("Z", "Z"), ("F7, ^X", "f7,ctrl+x"), (["Shift-z"], "Z"), ("Alt-é", "alt+é")],
)
def test_keys_as_people_write_them(written: str | list[str], keys: str) -> None:
    assert keymap({"pause": written}) == {"pause": keys}


@pytest.mark.parametrize(
    ("keys", "reported"),
    [
        ({"pauze": "Z"}, "no action 'pauze': did you mean 'pause'"),
        ({"interrupt": "x"}, "Ctrl-C always quits"),
        ({"pause": "Ctrl-C"}, "Ctrl-C always quits"),
        ({"pause": "Ctrl-I"}, "terminals send Tab for Ctrl-I"),
        ({"pause": ""}, "it needs a key; without the line it has p"),
        ({"pause": "pagdown"}, "no key 'pagdown': did you mean 'pagedown'"),
        ({"pause": "\x1b"}, "it needs a key|no key"),
        ({"pause": "q"}, "q is a key of 'quit' already: give that one another key"),
        ({"pause": "Z", "order": "Z"}, "leave it to one of them"),
        ({"pause": "x" * 5000}, "no key 'x{40}'"),
    ],
)
def test_keys_that_cannot_be_are_told_in_one_line(keys: dict[str, str], reported: str) -> None:
    with pytest.raises(UsageError, match=reported) as error:
        keymap(keys)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


def test_keys_can_be_exchanged() -> None:
    assert keymap({"pause": "o", "order": "p"}) == {"pause": "o", "order": "p"}


def test_the_screen_refuses_a_theme_that_there_is_not() -> None:
    with pytest.raises(UsageError, match=r"screen.theme: no theme 'nordd'"):
        settings_rows.check(parse(b"[screen]\ntheme = 'nordd'\n", "c"))
    for name in (themes.AUTO, *themes.NAMES):
        settings_rows.check(parse(f"[screen]\ntheme = '{name}'\n".encode(), "c"))


@pytest.mark.parametrize("page", PAGES)
def test_no_corner_of_a_page_names_a_key_that_was_changed(page: str) -> None:
    own = dict.fromkeys(("clear", "choose", "page-down", "follow", "up", "down", "copy", "log-scale"), "f12")
    job = frames.hang().derived.job
    assert job is not None
    view = View(frame=frames.hang(), page=page, selected=5, keymap=own)
    inside = ProcessesState(inside="files"), LogsState(mark=job.logs.lines[-1], inside="context")
    for shown in (view, *map(view.with_state, inside), replace(view, scroll=2)):
        screen = "\n".join(line.text for line in picture(shown, 120, 40))
        assert not re.search(r"\b(Esc|Enter|PgDn)\b|F follows|y copies", screen)
