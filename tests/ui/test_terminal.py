"""How the screen is fitted to a terminal: by its environment, and by what it answers."""

from __future__ import annotations

import os
import pty
import select
import threading

import pytest

from hwtop.errors import CannotError
from hwtop.ui.options import ScreenOptions
from hwtop.ui.terminal import terminal

AUTO = ScreenOptions(theme="auto")
UTF8 = {"TERM": "xterm-256color", "LANG": "de_DE.UTF-8"}
WHITE, BLACK = "\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b]11;rgb:00/00/00\x1b\\"
ONE_CELL, TWO_CELLS = "\x1b[7;2R", "\x1b[7;3R"


def fitted(answer: str, environ: dict[str, str], options: ScreenOptions = AUTO) -> ScreenOptions:
    return terminal.fitted(options, lambda _: answer, environ)


@pytest.mark.parametrize("term", [None, "", "dumb", "unknown"])
def test_where_nothing_says_that_a_screen_can_be_drawn_it_is_told_what_to_do(term: str | None) -> None:
    with pytest.raises(CannotError, match=r"TERM is .*`export TERM=xterm-256color`.*`hwtop PID --once`"):
        terminal.check({} if term is None else {"TERM": term})


@pytest.mark.parametrize("term", ["xterm", "vt100", "linux", "screen", "tmux-256color", "never-heard-of"])
def test_all_else_is_tried(term: str) -> None:
    terminal.check({"TERM": term})


@pytest.mark.parametrize(
    ("answer", "fgbg", "is_light"),
    [
        (WHITE, "", True),
        (BLACK, "", False),
        (BLACK, "0;15", False),
        ("\x1b]11;rgba:f8f8/f4f4/e3e3/ffff\x07", "", True),
        ("\x1b]11;rgb:zz/00\x07", "", False),
        ("", "", False),
        ("", "0;15", True),
        ("", "15;default;0", False),
        ("", "12;7", True),
    ],
)
def test_the_ground_is_light_as_the_terminal_or_else_its_environment_says(
    answer: str, fgbg: str, is_light: bool
) -> None:
    assert fitted(answer, {**UTF8, "COLORFGBG": fgbg}).is_light is is_light


@pytest.mark.parametrize("options", [ScreenOptions(theme="hwtop"), ScreenOptions(theme="auto", no_color=True)])
def test_who_has_chosen_is_not_asked(options: ScreenOptions) -> None:
    def ask(question: str) -> str:
        raise AssertionError(question)

    assert terminal.fitted(options, ask, UTF8) == options
    assert terminal.fitted(ScreenOptions(theme="auto"), ask, {"TERM": "linux", "LC_ALL": "C.UTF-8"}).is_ascii


@pytest.mark.parametrize(
    ("environ", "answer", "is_ascii"),
    [
        (UTF8, "", False),
        ({"LC_ALL": "C.utf8", "LANG": "C"}, "", False),
        ({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, "", True),
        ({"LANG": "C"}, ONE_CELL, False),
        ({"LANG": "C"}, TWO_CELLS, True),
        ({"LANG": "de_DE.ISO-8859-1"}, "", True),
        ({}, "", True),
        ({}, ONE_CELL + BLACK, False),
        ({"TMUX": "/tmp/tmux-0/default,1,0"}, ONE_CELL, True),
        ({**UTF8, "TERM": "linux"}, "", True),
    ],
)
def test_where_utf8_is_not_sure_ascii_is_drawn_and_said(environ: dict[str, str], answer: str, is_ascii: bool) -> None:
    options = fitted(answer, {"TERM": "xterm", **environ})
    assert options.is_ascii is is_ascii
    assert ("plain ASCII" in options.note) is is_ascii
    chosen = fitted(answer, {"TERM": "xterm", **environ}, ScreenOptions(is_ascii=True))
    assert (chosen.is_ascii, chosen.note) == (True, "")


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> int:
    """The terminal's end of a line whose other end `asked` speaks to."""
    ours, theirs = pty.openpty()
    monkeypatch.setattr(terminal, "_IN", theirs)
    monkeypatch.setattr(terminal, "_OUT", theirs)
    return ours


def test_answers_end_with_what_every_terminal_says_of_itself(line: int) -> None:
    def answer() -> None:
        while not os.read(line, 1000).endswith(b"\x1b[c"):
            pass
        for part in (WHITE.encode(), b"\x1b[?62;", b"22c"):
            os.write(line, part)

    thread = threading.Thread(target=answer)
    thread.start()
    assert terminal.asked("\x1b]11;?\x07") == f"{WHITE}\x1b[?62;22c"
    thread.join()


def test_one_that_answers_nothing_is_left_as_it_was(line: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_ANSWER_S", 0.05)
    assert terminal.asked("\x1b]11;?\x07") == ""
    os.write(line, b"x")
    assert select.select([line], [], [], 20)[0], "it echoes again"
