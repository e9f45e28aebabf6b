"""One feed, many tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hwtop.model.frame import Frame
from hwtop.model.plan import Request, UserFocus
from hwtop.ui.options import Publish, ScreenOptions
from hwtop.web.hub import Hub
from tests import frames


class FakeFeed:
    def __init__(self) -> None:
        self.publish: Publish
        self.wishes: list[UserFocus] = []
        self.attached: list[int | None] = []

    def start(self, publish: Publish) -> FakeFeed:
        self.publish = publish
        return self

    def look(self, user_focus: UserFocus) -> None:
        self.wishes.append(user_focus)

    def attach(self, pid: int | None) -> None:
        self.attached.append(pid)

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


class FakeTab:
    def __init__(self) -> None:
        self.shown: list[Frame] = []

    def show(self, frame: Frame) -> None:
        self.shown.append(frame)


def with_hub(act: Callable[[Hub], None], *, is_readonly: bool = False) -> FakeFeed:
    feed = FakeFeed()

    async def run() -> None:
        hub = Hub(feed.start, ScreenOptions(is_readonly=is_readonly))
        hub.open()
        act(hub)

    asyncio.run(run())
    return feed


def test_every_tab_gets_every_frame_until_it_leaves() -> None:
    feed, first, second = FakeFeed(), FakeTab(), FakeTab()
    one, other = frames.healthy(), frames.hang()

    async def run() -> None:
        hub = Hub(feed.start, ScreenOptions())
        hub.open()
        hub.join(first)
        hub.join(second)
        await asyncio.to_thread(feed.publish, one)
        await asyncio.sleep(0)
        hub.leave(first)
        await asyncio.to_thread(feed.publish, other)
        await asyncio.sleep(0)
        assert hub.newest is other

    asyncio.run(run())
    feed.publish(one)  # the loop has ended before the feed: nobody is hurt
    assert (first.shown, second.shown) == ([one], [one, other])


def test_the_tab_that_was_used_last_decides_where_to_look() -> None:
    first, second = FakeTab(), FakeTab()

    def act(hub: Hub) -> None:
        hub.join(first)
        hub.join(second)
        hub.look(first, UserFocus(rank=1, detail_pid=10))
        hub.look(second, UserFocus(rank=2))
        hub.leave(second)
        hub.leave(first)

    assert with_hub(act).wishes == [
        UserFocus(rank=1, detail_pid=10),
        UserFocus(rank=2, detail_pid=10),
        UserFocus(rank=1, detail_pid=10),
        UserFocus(),
    ]


def test_a_request_is_not_lost_by_a_look_of_another_tab() -> None:
    request = Request(number=3, kind="native", pid=10)

    def act(hub: Hub) -> None:
        first, second = FakeTab(), FakeTab()
        hub.look(first, UserFocus(request=request))
        hub.look(second, UserFocus(rank=1))
        hub.look(second, UserFocus(rank=1, request=Request(number=2, kind="native", pid=11)))

    assert [user_focus.request for user_focus in with_hub(act).wishes] == [request] * 3
    assert [user_focus.request for user_focus in with_hub(act, is_readonly=True).wishes] == [None] * 3


def test_another_job_is_looked_at_afresh() -> None:
    def act(hub: Hub) -> None:
        tab = FakeTab()
        hub.look(tab, UserFocus(rank=5, request=Request(number=1, kind="native", pid=10)))
        hub.attach(77)
        hub.look(FakeTab(), UserFocus(rank=1))

    feed = with_hub(act)
    assert feed.attached == [77]
    assert feed.wishes[-1] == UserFocus(rank=1)
