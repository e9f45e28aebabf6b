"""Tags, and what is followed: always the process that was meant, never a later one with its PID."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from textual.pilot import Pilot

from hwtop.collectors.process.files import read_stat
from hwtop.collectors.process.signals import send
from hwtop.model.frame import Frame
from hwtop.model.member import JobProcess
from hwtop.ui.app import HwtopApp
from hwtop.ui.input.keyboard import pressed
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.reducers import processes as process_moves
from hwtop.ui.reducers import ranks as rank_moves
from hwtop.ui.tables import tags
from hwtop.ui.view import View
from tests import crowds, frames
from tests.parts import replace
from tests.ui.test_app import view_of
from tests.ui.test_process_page import LAUNCHER, RANK_0, RANK_1, Feed, Post, drive, frame, text_of, with_job


def with_process(given: Frame, pid: int, **changes: object) -> Frame:
    assert given.derived.job is not None
    items = [replace(item, **changes) if item.pid == pid else item for item in given.derived.job.processes]
    return with_job(given, processes=tuple(items))


def without(given: Frame, *pids: int) -> Frame:
    assert given.derived.job is not None
    return with_job(given, processes=tuple(item for item in given.derived.job.processes if item.pid not in pids))


def of(view: View) -> list[int]:
    return [item.pid for item in tags.tagged(view)]


def title(view: View, size: tuple[int, int] = (120, 40)) -> str:
    return next(
        line.text
        for line in picture(view, *size)
        if "─ Processes " in line.text or "─ Ranks " in line.text or "▸ Ranks" in line.text
    )


def test_space_tags_the_row_and_goes_on() -> None:
    view = View(frame=frame(), page="processes")
    view = pressed(pressed(view, "tag", (80, 24)), "tag", (80, 24))
    assert of(view) == [LAUNCHER, RANK_0]
    assert process_view.place(view) == 2
    assert "• 2 tagged" in title(view)
    assert [line.text.count("•") for line in picture(view, 80, 24)[4:6]] == [1, 1]
    view = pressed(process_moves.moved(view, -1), "tag", (80, 24))
    assert of(view) == [LAUNCHER]
    cleared = pressed(view, "untag", (80, 24))
    assert (of(cleared), cleared.note) == ([], "1 untagged")
    assert pressed(cleared, "untag", (80, 24)).note == "nothing is tagged"


def test_ranks_are_tagged_by_their_process() -> None:
    view = View(frame=frame(), page="ranks")
    assert "not selected yet" in pressed(view, "tag", (80, 24)).note
    view = pressed(rank_moves.stepped(view, 1), "tag", (80, 24))
    assert (of(view), view.selected) == ([RANK_0], 1)
    assert "• 1 tagged" in title(view)
    assert of(replace(view, page="processes")) == [RANK_0]


def test_a_later_process_with_the_same_pid_is_not_tagged() -> None:
    view = View(frame=frame(), page="processes", tagged=frozenset({(RANK_1, RANK_1)}))
    assert of(view) == [RANK_1]
    assert of(replace(view, frame=with_process(view.frame, RANK_1, start_ticks=7))) == []
    assert of(replace(view, frame=with_process(view.frame, RANK_1, state="Z"))) == []
    assert of(replace(view, frame=without(view.frame, RANK_1))) == []
    assert "tagged" not in title(replace(view, frame=without(view.frame, RANK_1)))


@pytest.mark.parametrize("page", ["overview", "stacks", "logs", "host"])
def test_other_pages_have_no_tags(page: str) -> None:
    view = View(frame=frame(), page=page)
    for key in ("tag", "untag", "tree", "branches", "sort-cpu", "sort-mem"):
        after = pressed(view, key, (80, 24))
        assert of(after) == []
        assert "processes (9)" in after.note


def test_a_signal_to_all_that_is_tagged_names_each_and_the_job() -> None:
    post = Post()

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "space", "space", "end", "k")
        assert "to 2 tagged processes" in text_of(app)
        await pilot.press("enter")
        text = " ".join(text_of(app).split())
        assert f"To launcher · PID {LAUNCHER}, rank 0 · PID {RANK_0}." in text
        assert f"Job: torchrun {LAUNCHER}" in text
        assert post.orders == []
        await pilot.press("y")
        assert "SIGTERM sent to 2 of 2 processes" in text_of(app)

    drive(act, frame(), send=post)
    assert [(each.pid, each.start_ticks) for each in post.orders[0].targets] == [(LAUNCHER, LAUNCHER), (RANK_0, RANK_0)]


def test_what_came_of_it_is_told() -> None:
    given = frame()

    def later(base: Frame, seconds: float) -> Frame:
        return replace(base, derived=replace(base.derived, at_s=given.derived.at_s + seconds))

    async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
        await pilot.press("9", "space", "space", "k", "enter", "y")
        feed.publish(later(without(given, LAUNCHER), 3))
        await pilot.pause()
        assert text_of(app).rstrip().endswith("SIGTERM sent to 2 of 2 processes")
        feed.publish(later(without(given, LAUNCHER), 5))
        await pilot.pause()
        reported = f"SIGTERM sent to 2 of 2 processes: 1 still runs after 5 s (rank 0 · PID {RANK_0})"
        assert reported in text_of(app)
        await pilot.press("down", "k", "enter", "y")
        feed.publish(later(without(given, LAUNCHER, RANK_0), 8))
        await pilot.pause()
        assert f"SIGTERM sent to PID {RANK_0}: it has ended" in text_of(app)

    drive(act, given, send=Post())


def test_a_pid_that_was_given_to_another_process_gets_nothing() -> None:
    code = "import time; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            start = read_stat(f"/proc/{process.pid}").start_ticks
            item = JobProcess(
                pid=process.pid,
                ppid=1,
                depth=0,
                role="rank",
                rank=0,
                state="S",
                cpu_pct=None,
                rss_bytes=None,
                thread_count=1,
                read_bytes_per_s=None,
                written_bytes_per_s=None,
                fd_count=None,
                wchan=None,
                threads={},
                thread_states={},
                command="train.py",
                start_ticks=start - 1,
            )

            async def act(app: HwtopApp, pilot: Pilot[None], feed: Feed) -> None:
                await pilot.press("9", "space", "k", "end", "enter", "y")
                assert f"PID {process.pid} belongs to another process now: nothing was sent" in text_of(app)

            drive(act, with_job(frame(), processes=(item,)), send=send)
            assert process.poll() is None
        finally:
            process.kill()


def test_the_followed_process_stays_under_the_cursor_and_its_end_is_told() -> None:
    feed = Feed()
    given = frame()
    worker = frames.pid_of(3) + 1

    async def run() -> None:
        app = HwtopApp(feed.start, options=ScreenOptions())
        async with app.run_test(size=(120, 40)) as pilot:
            feed.publish(given)
            await pilot.pause()
            await pilot.press("9")
            job = given.derived.job
            assert job is not None
            await pilot.press(*["down"] * [item.pid for item in job.processes].index(worker))
            await pilot.press("F", "P")
            assert f"follows PID {worker}" in text_of(app)
            busy = with_process(given, worker, cpu_pct=790.0)
            feed.publish(busy)
            await pilot.pause()
            item = process_view.selected(view_of(app))
            assert item is not None
            assert item.pid == worker
            assert process_view.place(view_of(app)) == 0
            feed.publish(with_process(given, worker, state="Z", exit_code=-9))
            await pilot.pause()
            assert f"loader worker of rank 3 · PID {worker}, which was followed, has ended by signal 9" in text_of(app)
            assert view_of(app).state(ProcessesState).followed is None

    asyncio.run(run())


def test_another_row_ends_the_following() -> None:
    view = process_moves.followed(View(frame=frame(), page="processes"))
    assert process_view.follows(view)
    assert not process_view.follows(process_moves.followed(view))
    assert not process_view.follows(process_moves.moved(view, 1))


def test_tags_on_the_map_of_many_ranks() -> None:
    base = crowds.healthy(64)
    job = base.derived.job
    assert job is not None
    tagged = frozenset((rank.pid, None) for rank in job.ranks[3:6])
    for size in ((80, 24), (120, 40)):
        view = View(frame=base, page="ranks", selected=3, tagged=tagged)
        lines = [line.text for line in picture(view, *size)]
        assert any(line.count("•●") == 3 for line in lines)
        assert any("• 3 tagged" in line for line in lines)
        assert {line.width for line in picture(view, *size)} == {size[0]}
