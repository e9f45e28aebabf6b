"""Tables of ranks and processes: filtered, sorted by a column either way, and what is under the cursor stays so."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from hwtop.fields import process, rank
from hwtop.fields.process import PROCESS, ProcessRow
from hwtop.fields.rank import RANK
from hwtop.model.frame import Frame
from hwtop.model.reported.log import Progress
from hwtop.ui import help_lines
from hwtop.ui.app import HwtopApp
from hwtop.ui.input.mouse import selected
from hwtop.ui.pages.footer import draw
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.pages.registry import turned
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.panels.processes.state import PROCESSES, ProcessesState
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.state import RANKS, RanksState
from hwtop.ui.reducers import processes as process_moves
from hwtop.ui.reducers import tables
from hwtop.ui.tables.order import SortableTable
from hwtop.ui.view import View
from tests import crowds, frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

TABLES: dict[str, SortableTable[Any]] = {"ranks": RANKS, "processes": PROCESSES}


def rows(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def ranks_kept(word: str, frame: Frame | None = None) -> list[int]:
    view = View(frame=frame or frames.healthy(), page="ranks", filters={"ranks": word})
    assert rank_view.query(view).problem == ""
    return [each.rank for each in rank_view.ordered(view)]


def pids(view: View) -> list[int]:
    return [item.pid for item in process_view.kept(view)]


def uneven() -> Frame:
    """Rank 2 is slow, rank 5 sleeps on a disk, of rank 6 nothing is known."""
    base = frames.healthy()
    job = base.derived.job
    assert job is not None
    ranks = list(job.ranks)
    ranks[2] = replace(ranks[2], step_time_s=2.5, tree_cpu_pct=380.0, progress=Progress(step=90), phase="data")
    ranks[5] = replace(ranks[5], os_state="D", rss_bytes=3 * 1024**3, step_age_s=75.0)
    ranks[6] = replace(ranks[6], step_time_s=None, tree_cpu_pct=None, progress=None, phase=None, rss_bytes=None)
    return replace(base, derived=replace(base.derived, job=replace(job, ranks=tuple(ranks))))


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
        ("cmd~train.py rank<2", [0, 1]),
        ('command~"train.py --config"', list(range(8))),
        ("cmd!~train", []),
        ("user=none", list(range(8))),
    ],
)
def test_filter_of_ranks(word: str, kept: list[int]) -> None:
    assert ranks_kept(word, uneven()) == kept


def test_filter_of_processes_knows_the_gpus_of_a_rank() -> None:
    view = View(frame=frames.healthy(), page="processes", filters={"processes": "gpu=3 role=rank"})
    assert pids(view) == [frames.pid_of(3)]
    assert pids(replace(view, filters={"processes": "rank=none"})) == [frames.LAUNCHER]
    assert len(pids(replace(view, filters={"processes": "loader rank=2-3"}))) == 8


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("user=ada", 41),
        ("user=bob", 0),
        ("state=D", 0),
        ("cpu>90 role=rank", 8),
        ("mem>1G", 8),
        ("gpu=3", 5),
        ("rank=1", 5),
        ("cmd~TRAIN", 41),
        ("cmd~nothing", 0),
    ],
)
def test_filter_of_processes(word: str, kept: int) -> None:
    base = frames.healthy()
    job = base.derived.job
    assert job is not None
    processes = tuple(replace(item, user="ada") for item in job.processes)
    frame = replace(base, derived=replace(base.derived, job=replace(job, processes=processes)))
    view = View(frame=frame, page="processes", filters={"processes": word})
    assert process_view.query(view).problem == ""
    assert len(pids(view)) == kept


@pytest.mark.parametrize(
    ("word", "kept"),
    [("gpu=3", [3]), ("rank=2-3", [2, 3]), ("util<30", [5]), ("state=ok gpu<2", [0, 1]), ("h100", list(range(8)))],
)
def test_filter_of_gpus(word: str, kept: list[int]) -> None:
    view = View(frame=frames.hang(), page="gpu", filters={"gpu": word})
    assert gpu_view.query(view).problem == ""
    assert [gpu.index for gpu in gpu_view.kept(view)] == kept
    here = gpu_view.selected(view)
    assert here is not None
    assert here.index in kept
    assert any(f"filter: {word}, {len(kept)} of 8 GPUs" in row for row in rows(view, (120, 40)))
    assert len(gpu_view.rows(turned(view, "overview"))) == 8


def test_no_gpu_matches() -> None:
    view = View(frame=frames.hang(), page="gpu", filters={"gpu": "gpu=99"})
    for size in ((60, 15), (80, 24), (200, 60)):
        assert any("no GPU matches" in row for row in rows(view, size))


@pytest.mark.parametrize(
    ("page", "word", "said"),
    [("ranks", "rank=0-3", "4 of 8"), ("processes", "gpu=3", "5 of 41"), ("gpu", "gpu=99", "0 of 8")],
)
def test_hits_are_counted_while_one_types(page: str, word: str, said: str) -> None:
    view = View(frame=frames.healthy(), page=page, filters={page: word}, typing=page)
    for width in (80, 120):
        (line,) = draw(view, width, 1)
        assert said in line.text
        assert line.width == width


@pytest.mark.parametrize("page", ["ranks", "processes"])
@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=str)
def test_a_click_on_a_title_sorts_and_again_turns(page: str, size: tuple[int, int]) -> None:
    view = View(frame=frames.healthy(), page=page)
    at = arrange(view, *size)[page]
    for name in ("CPU", "state"):
        head = rows(view, size)[at.y + 1]
        x = head.index(name) + 1 - at.x
        view = selected(view, page, (x, 1), (at.width, at.height))
        assert TABLES[page].order(view) == name.casefold()
        assert rows(view, size)[at.y + 1].count("↓") + rows(view, size)[at.y + 1].count("↑") == 1
        turned = selected(view, page, (x, 1), (at.width, at.height))
        assert (TABLES[page].order(turned), TABLES[page].is_falling(turned)) == (
            name.casefold(),
            not TABLES[page].is_falling(view),
        )


def test_a_click_on_a_column_without_an_order_says_so() -> None:
    view = View(frame=frames.healthy(), page="ranks")
    at = arrange(view, 200, 60)["ranks"]
    x = rows(view, (200, 60))[at.y + 1].index("phases")
    after = selected(view, "ranks", (x, 1), (at.width, at.height))
    assert (after.state(RanksState).order, after.note) == ("rank", "the table has no order by phases")


def test_a_table_can_be_ordered_by_each_of_its_orders() -> None:
    for name in (name for name, field in RANK.named().items() if field.sort):
        view = tables.sorted_by(View(frame=frames.healthy(), page="ranks"), RANKS, name)
        assert RANKS.order(view) == name
        assert len(rank_view.ordered(view)) == 8
    for name in ("tree", *(name for name, field in PROCESS.named().items() if field.sort)):
        view = tables.sorted_by(View(frame=frames.healthy(), page="processes"), PROCESSES, name)
        assert PROCESSES.order(view) == name
        assert len(pids(view)) == 41


def test_a_filter_makes_a_list_of_a_map() -> None:
    view = View(frame=crowds.sick(512), page="ranks", filters={"ranks": "rank=100-105"})
    shown = rows(view)
    assert any("filter: rank=100-105, 6 of 512 ranks" in row for row in shown)
    assert sum("○ collective-wait" in row for row in shown) >= 6
    assert any("no rank matches" in row for row in rows(replace(view, filters={"ranks": "rank=600"})))


@pytest.mark.parametrize("page", ["ranks", "processes"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_is_not_understood_is_said_where_it_is_typed(page: str, width: int) -> None:
    view = View(frame=frames.healthy(), page=page, filters={page: "stat=D"}, typing=page)
    (line,) = draw(view, width, 1)
    assert line.width == width
    assert "stat=D" in line.text
    assert "no field stat: did you mean 'state'?" in line.text
    assert any("8 of 8" in row or "41 of 41" in row for row in rows(view))
    for word in ("rank=" * 30, "zz=1", "rank=0-3 cpu>x"):
        (line,) = draw(replace(view, filters={page: word}), width, 1)
        assert line.width == width
        assert "▲" in line.text


@pytest.mark.parametrize("name", rank.CYCLE)
def test_ranks_are_sorted_either_way_and_the_unknown_stands_last(name: str) -> None:
    view = View(frame=uneven(), page="ranks").with_state(RanksState(order=name))
    title = next(row for row in rows(view, (200, 60)) if "pid" in row and "s/step" in row)
    column = {"cpu": "CPU"}.get(name, name)
    assert f"{column}{'↓' if RANKS.is_falling(view) else '↑'}" in title
    there = [each.rank for each in rank_view.ordered(view)]
    back = [each.rank for each in rank_view.ordered(tables.reversed_(view, RANKS))]
    assert sorted(there) == sorted(back) == list(range(8))
    assert there != back or name in ("state", "wait")
    if name in ("step", "s/step", "cpu", "mem"):
        assert there[-1] == back[-1] == 6
    assert RANKS.words(view) != RANKS.words(tables.reversed_(view, RANKS))


def test_filter_and_order_of_the_ranks_stay_on_their_page() -> None:
    view = View(frame=uneven(), page="ranks", filters={"ranks": "rank=2-5"}).with_state(RanksState(order="mem"))
    listed = [each.rank for each in rank_view.ordered(view)]
    assert listed == [4, 3, 2, 5]
    there = turned(view, "overview")
    assert [each.rank for each in rank_view.ordered(there)] == list(range(8))
    assert [each.rank for each in rank_view.ordered(turned(there, "ranks"))] == listed


@pytest.mark.parametrize("name", process.CYCLE[1:])
def test_processes_are_sorted_either_way(name: str) -> None:
    view = View(frame=frames.healthy(), page="processes").with_state(ProcessesState(order=name))
    field = PROCESS.named()[name]
    values = [field.value(ProcessRow(item)) for item in process_view.kept(view)]
    assert values == sorted(values, reverse=name != "pid")  # type: ignore[type-var]
    back = [field.value(ProcessRow(item)) for item in process_view.kept(tables.reversed_(view, PROCESSES))]
    assert back == sorted(values, reverse=name == "pid")  # type: ignore[type-var]
    text = "\n".join(rows(view, (200, 60)))
    assert f"{'CPU' if name == 'cpu' else name}{'↑' if name == 'pid' else '↓'}" in text
    assert "└" not in text


def test_a_tree_has_one_order_and_says_so() -> None:
    view = View(frame=frames.healthy(), page="processes")
    assert pids(tables.reversed_(view, PROCESSES)) == pids(view)
    assert "o sorts" in tables.reversed_(view, PROCESSES).note
    for _ in process.CYCLE:
        view = tables.sorted_next(view, PROCESSES)
    assert view.state(ProcessesState).order == "tree"


def test_the_cursor_stays_on_its_row_whatever_the_order() -> None:
    view = process_moves.chosen(View(frame=frames.healthy(), page="processes"), 7)
    chosen = view.state(ProcessesState).pid
    for _ in process.CYCLE:
        view = tables.reversed_(tables.sorted_next(view, PROCESSES), PROCESSES)
        item = process_view.selected(view)
        assert item is not None
        assert item.pid == chosen
        assert any("▸" in row and str(chosen) in row for row in rows(view, (80, 24)))


def test_help_tells_the_language_and_all_fields() -> None:
    text = "\n".join(line.text for line in help_lines.draw(None, (80, 200)).lines)
    for word in ("rank=0-3", "cpu>80", "mem>2G", "state=D", "step<100", *RANK.named(), *PROCESS.named()):
        assert word in text, word


def test_help_finds_what_a_field_is() -> None:
    text = "\n".join(line.text for line in help_lines.draw(None, (120, 60), "wchan").lines)
    assert process.WCHAN.about[:20] in text
    assert "processes of the job" in text


def test_the_keys_sort_turn_and_filter() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("O", "2", "O")
        assert [each.rank for each in rank_view.ordered(view_of(app))] == list(range(7, -1, -1))
        await pilot.press("slash", *"rank=2-3 !500", "enter", "O")
        assert [each.rank for each in rank_view.ordered(view_of(app))] == [2, 3]
        assert any("filter: rank=2-3 !500, " in row for row in screen_text(app))
        await pilot.press("escape", "9", "o", "e", "o", "O", "escape")
        state = view_of(app).state(ProcessesState)
        assert (state.order, state.is_reversed) == ("cpu", False)
        await pilot.press("O")
        assert any("least CPU first" in row for row in screen_text(app))

    drive(act, frames.healthy())
