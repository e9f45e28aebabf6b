"""The tree of processes: what a rank has many of has one row, and every process can be reached."""

from __future__ import annotations

from functools import cache

import pytest

from hwtop.fields import process
from hwtop.model.frame import Frame
from hwtop.model.member import JobProcess
from hwtop.ui.input.keyboard import chosen, moved, pressed
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.processes import view as process_view
from hwtop.ui.panels.processes.state import ProcessesState
from hwtop.ui.reducers import processes as process_moves
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.ui.test_process_page import with_job

SIZE = (120, 40)


@cache
def processes(count: int = 14) -> Frame:
    """Eight ranks with so many loader workers each; one of rank 3 waits for a disk."""
    job = frames.healthy().derived.job
    assert job is not None
    made: list[JobProcess] = []
    for item in job.processes:
        if item.role == "loader-worker":
            continue
        made.append(item)
        worker = next((each for each in job.processes if each.role == "loader-worker" and each.rank == item.rank), None)
        if item.role == "rank" and worker is not None:
            made += [
                replace(worker, pid=item.pid * 100 + number, state="D" if (item.rank, number) == (3, 2) else "S")
                for number in range(count)
            ]
    return with_job(frames.healthy(), processes=tuple(made))


def tree(count: int = 14) -> View:
    return View(frame=processes(count), page="processes")


def shown(view: View, size: tuple[int, int] = SIZE) -> list[str]:
    return [line.text for line in picture(view, *size)]


def names(view: View) -> list[str]:
    return [row.name for row in process_view.rows(view)]


@pytest.mark.parametrize(("count", "is_folded"), [(1, False), (4, False), (5, True), (64, True)])
def test_many_workers_have_one_row(count: int, is_folded: bool) -> None:
    assert names(tree(count))[:3] == ["launcher", "rank", f"+ {count} loader workers" if is_folded else "loader-worker"]
    assert len(process_view.rows(tree(count))) == (17 if is_folded else 9 + 8 * count)


def test_the_row_of_many_tells_the_sickest_and_the_sum() -> None:
    at = next(number for number, row in enumerate(process_view.rows(tree())) if row.rank == 3 and row.folded_pid)
    row = process_view.rows(tree())[at]
    assert row.value(process.STATE) == "D"
    assert row.words == "13 sleeping, 1 disk wait"
    assert row.value(process.CPU) == pytest.approx(sum(item.cpu_pct or 0 for item in row.processes))
    assert row.value(process.MEMORY) is None, "shared pages count in each: there is no sum"
    line = next(text for text in shown(process_moves.chosen(tree(), at)) if "▸" in text and "+ 14" in text)
    assert "▲ disk wait" in line


def test_a_branch_opens_and_folds_by_arrows_enter_and_all_at_once() -> None:
    view = process_moves.moved(tree(), 2)
    assert process_view.row(view) == process_view.rows(view)[2]
    opened = moved(view, 1, 0, SIZE)
    assert names(opened)[1:4] == ["rank", "loader-worker", "loader-worker"]
    assert chosen(view, SIZE).state(ProcessesState).folds == opened.state(ProcessesState).folds
    again = moved(process_moves.moved(opened, 3), -1, 0, SIZE)
    assert names(again) == names(view)
    assert process_view.place(again) == 2
    job = again.job
    assert job is not None
    everything = pressed(again, "branches", (80, 24))
    assert len(process_view.rows(everything)) == len(job.processes)
    assert names(pressed(everything, "branches", (80, 24))) == names(view)


def test_the_launcher_folds_all() -> None:
    view = moved(tree(), -1, 0, SIZE)
    assert names(view) == ["launcher", "+ 112 loader workers, 8 ranks"]
    assert names(moved(view, 1, 0, SIZE))[1] == "rank"


def test_a_list_and_a_filter_hide_no_process_in_a_row() -> None:
    job = tree().job
    assert job is not None
    flat = pressed(tree(), "tree", (80, 24))
    assert flat.state(ProcessesState).order == "cpu"
    assert len(process_view.rows(flat)) == len(job.processes)
    assert "whole tree" in moved(flat, 1, 0, SIZE).note
    assert pressed(flat, "tree", (80, 24)).state(ProcessesState).order == "tree"
    found = View(frame=processes(), page="processes", filters={"processes": "state=D"})
    assert [row.process.state for row in process_view.rows(found)] == ["D"]


def test_a_process_in_a_folded_branch_keeps_its_place() -> None:
    pid = frames.pid_of(3) * 100 + 2
    view = View(frame=processes(), page="processes", selected=3).with_state(ProcessesState(pid=pid))
    item = process_view.selected(view)
    assert item is not None
    assert item.pid == pid
    assert process_view.selected(moved(view, 1, 0, SIZE)) == item


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)], ids=str)
def test_it_fits(size: tuple[int, int]) -> None:
    view = process_moves.moved(tree(), 2)
    for line in picture(view, *size):
        assert line.width == size[0]
    assert any("▸" in text and "+ 14 loader workers" in text for text in shown(view, size))
