"""Tables of ranks and processes: filtered, sorted by a column either way, and what is under the cursor stays so."""

from __future__ import annotations

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.model.frame import Frame
from hwtop.model.log import Progress
from hwtop.ui import fields, help_lines, order, process_view, rank_view
from hwtop.ui.app import HwtopApp
from hwtop.ui.layout import picture
from hwtop.ui.panels.footer import draw
from hwtop.ui.view import ORDERS, PROCESS_ORDERS, Page, View
from tests import crowds, frames
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of


def rows(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def ranks_kept(word: str, frame: Frame | None = None) -> list[int]:
    view = View(frame=frame or frames.healthy(), page="ranks", filters={"ranks": word})
    assert rank_view.query(view).problem == ""
    return [rank.rank for rank in rank_view.ordered(view)]


def pids(view: View) -> list[int]:
    return [item.pid for item in process_view.kept(view)]


def uneven() -> Frame:
    """Rank 2 is slow, rank 5 sleeps on a disk, of rank 6 nothing is known."""
    base = frames.healthy()
    job = base.moment.job
    assert job is not None
    ranks = list(job.ranks)
    ranks[2] = replace(ranks[2], step_time_s=2.5, tree_cpu_pct=380.0, progress=Progress(step=90), phase="data")
    ranks[5] = replace(ranks[5], os_state="D", rss_bytes=3 * 1024**3, step_age_s=75.0)
    ranks[6] = replace(ranks[6], step_time_s=None, tree_cpu_pct=None, progress=None, phase=None, rss_bytes=None)
    return replace(base, moment=replace(base.moment, job=replace(job, ranks=tuple(ranks))))


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("", list(range(8))),
        ("rank=0-3", [0, 1, 2, 3]),
        ("gpu=3", [3]),
        ("state=D", [5]),
        ("state=training rank!=5", [0, 1, 2, 3, 4, 6, 7]),
        ("cpu>300", [2]),
        ("mem<4G", [5]),
        ("step<100", [2]),
        ("step=none", [6]),
        ("phase=data", [2]),
        ("ago>1m", [5]),
        ("s/step>2", [2]),
        (f"{frames.pid_of(4)}", [4]),
        ("!iter", []),
    ],
)
def test_filter_of_ranks(word: str, kept: list[int]) -> None:
    assert ranks_kept(word, uneven()) == kept


def test_filter_of_processes_knows_the_gpus_of_a_rank() -> None:
    view = View(frame=frames.healthy(), page="processes", filters={"processes": "gpu=3 role=rank"})
    assert pids(view) == [frames.pid_of(3)]
    assert pids(changed(view, filters={"processes": "rank=none"})) == [frames.LAUNCHER]
    assert len(pids(changed(view, filters={"processes": "loader rank=2-3"}))) == 8


def test_every_field_of_every_row_can_be_asked() -> None:
    for frame in (frames.healthy(), frames.hang(), frames.dead_rank(), frames.gpu_lost()):
        job = frame.moment.job
        assert job is not None
        for field in fields.ranks(job).values():
            assert all(
                value is None or isinstance(value, int | float | str)
                for each in job.ranks
                for value in field.read(each)
            )
        for asked in fields.processes(job).values():
            assert all(
                value is None or isinstance(value, int | float | str)
                for each in job.processes
                for value in asked.read(each)
            )


def test_a_filter_makes_a_list_of_a_map() -> None:
    view = View(frame=crowds.sick(512), page="ranks", filters={"ranks": "rank=100-105"})
    shown = rows(view)
    assert any("filter: rank=100-105, 6 of 512 ranks" in row for row in shown)
    assert sum("○ collective-wait" in row for row in shown) >= 6
    assert any("no rank matches" in row for row in rows(changed(view, filters={"ranks": "rank=600"})))


@pytest.mark.parametrize("page", ["ranks", "processes"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_is_not_understood_is_said_where_it_is_typed(page: Page, width: int) -> None:
    view = View(frame=frames.healthy(), page=page, filters={page: "stat=D"}, is_typing=True)
    (line,) = draw(view, width, 1)
    assert line.width == width
    assert "stat=D" in line.text
    assert "no field stat: state?" in line.text
    assert any("8 of 8" in row or "41 of 41" in row for row in rows(view))
    for word in ("rank=" * 30, "zz=1", "rank=0-3 cpu>x"):
        (line,) = draw(changed(view, filters={page: word}), width, 1)
        assert line.width == width
        assert "▲" in line.text


@pytest.mark.parametrize("name", ORDERS)
def test_ranks_are_sorted_either_way_and_the_unknown_stands_last(name: str) -> None:
    view = View(frame=uneven(), page="ranks", order=name)  # type: ignore[arg-type]
    title = next(row for row in rows(view, (200, 60)) if "pid" in row and "s/step" in row)
    column = {"cpu": "CPU"}.get(name, name)
    assert f"{column}{'↓' if order.is_falling(view) else '↑'}" in title
    there = [rank.rank for rank in rank_view.ordered(view)]
    back = [rank.rank for rank in rank_view.ordered(order.turned(view))]
    assert sorted(there) == sorted(back) == list(range(8))
    assert there != back or name in ("state", "wait")
    if name in ("step", "s/step", "cpu", "mem"):
        assert there[-1] == back[-1] == 6
    assert order.words(view) != order.words(order.turned(view))


@pytest.mark.parametrize("name", PROCESS_ORDERS[1:])
def test_processes_are_sorted_either_way(name: str) -> None:
    view = View(frame=frames.healthy(), page="processes", process_order=name)  # type: ignore[arg-type]
    field = fields.processes(view.job)[name]
    values = [field.read(item)[0] for item in process_view.kept(view)]
    assert values == sorted(values, reverse=name != "pid")  # type: ignore[type-var]
    back = [field.read(item)[0] for item in process_view.kept(order.turned(view))]
    assert back == sorted(values, reverse=name == "pid")  # type: ignore[type-var]
    text = "\n".join(rows(view, (200, 60)))
    assert f"{'CPU' if name == 'cpu' else name}{'↑' if name == 'pid' else '↓'}" in text
    assert "└" not in text


def test_a_tree_has_one_order_and_says_so() -> None:
    view = View(frame=frames.healthy(), page="processes")
    assert pids(order.turned(view)) == pids(view)
    assert "o sorts" in order.turned(view).note
    for _ in PROCESS_ORDERS:
        view = order.following(view)
    assert view.process_order == "tree"


def test_the_cursor_stays_on_its_row_whatever_the_order() -> None:
    view = process_view.chosen(View(frame=frames.healthy(), page="processes"), 7)
    chosen = view.process
    for _ in PROCESS_ORDERS:
        view = order.turned(order.following(view))
        item = process_view.selected(view)
        assert item is not None
        assert item.pid == chosen
        assert any("▸" in row and str(chosen) in row for row in rows(view, (80, 24)))


def test_help_tells_the_language_and_all_fields() -> None:
    text = "\n".join(line.text for line in help_lines.draw(None, (80, 200)).lines)
    for word in ("rank=0-3", "cpu>80", "mem>2G", "state=D", "step<100", *fields.ranks(None), *fields.processes(None)):
        assert word in text, word


def test_the_keys_sort_turn_and_filter() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("O", "2", "O")
        assert [rank.rank for rank in rank_view.ordered(view_of(app))] == list(range(7, -1, -1))
        await pilot.press("slash", *"rank=2-3 !500", "enter", "O")
        assert [rank.rank for rank in rank_view.ordered(view_of(app))] == [2, 3]
        assert any("filter: rank=2-3 !500, " in row for row in screen_text(app))
        await pilot.press("escape", "7", "o", "e", "o", "O", "escape")
        assert (view_of(app).process_order, view_of(app).reversed_pages) == ("cpu", frozenset())
        await pilot.press("O")
        assert any("least CPU first" in row for row in screen_text(app))

    drive(act, frames.healthy())
