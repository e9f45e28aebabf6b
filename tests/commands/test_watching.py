"""Reading starts before the screen is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hwtop.commands.job import live
from hwtop.commands.shared.watching import Watching
from hwtop.config import Config
from hwtop.errors import UsageError
from hwtop.model.frame import Frame
from tests import frames
from tests.parts import replace


class FakeFeed:
    """Publishes what the test hands to `show`."""

    def __init__(self, _: object, show: Callable[[Frame], None], *__: Any) -> None:
        self.show = show
        self.is_running = False

    def start(self) -> None:
        self.is_running = True

    def stop(self) -> None:
        self.is_running = False


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> list[FakeFeed]:
    """Those that were made."""
    made: list[FakeFeed] = []

    def make(*given: Any) -> FakeFeed:
        made.append(FakeFeed(*given))
        return made[-1]

    monkeypatch.setattr("hwtop.feed.feed.Feed", make)
    return made


def watching() -> Watching:
    return Watching(None, 1.0, (), None, Config())


def test_the_newest_of_what_was_read_before_the_screen_is_shown_first(feeds: list[FakeFeed]) -> None:
    of_job = watching()
    of_job.begin()
    first, second, third = (replace(frames.healthy(), number=number) for number in (1, 2, 3))
    feeds[0].show(first)
    feeds[0].show(second)
    shown: list[Frame] = []
    of_job.start(shown.append)
    feeds[0].show(third)
    assert shown == [second, third]
    assert len(feeds) == 1


def test_a_screen_without_an_early_start_reads_from_its_start_on(feeds: list[FakeFeed]) -> None:
    shown: list[Frame] = []
    watching().start(shown.append)
    assert [feed.is_running for feed in feeds] == [True]
    feeds[0].show(frames.healthy())
    assert len(shown) == 1


def test_reading_ends_where_the_screen_cannot_be_opened(feeds: list[FakeFeed], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_has_terminal", lambda: True)
    with pytest.raises(UsageError), live.early(watching()):
        assert [feed.is_running for feed in feeds] == [True]
        raise UsageError("no such theme")
    assert [feed.is_running for feed in feeds] == [False]


def test_nothing_is_read_where_there_is_no_terminal(feeds: list[FakeFeed], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_has_terminal", lambda: False)
    with live.early(watching()):
        pass
    assert feeds == []
