"""The ranks page: a row each, or a map of many; all about one; who differs."""

from __future__ import annotations

import pytest

from hwtop.fields.rank import STATE, WORST_FIRST, RankRow
from hwtop.model.frame import Frame
from hwtop.model.hang import BlockedThread
from hwtop.model.job import Job, JobPlace
from hwtop.model.liveness import Liveness
from hwtop.model.rank import Rank, RankState
from hwtop.model.rank_stack import HotLine, PhaseShare
from hwtop.ui import marks
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.panels.ranks.state import RanksState
from hwtop.ui.panels.ranks.table import mix
from hwtop.ui.view import View
from hwtop.ui.widgets.panel import ROLES
from hwtop.ui.widgets.text import to_ascii
from tests import crowds, frames
from tests.parts import replace
from tests.symptoms.derived_states import still

SIZES = [(80, 24), (120, 40), (200, 60)]


def lines_of(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def page(frame: Frame, selected: int | None = None) -> View:
    return View(frame=frame, page="ranks", selected=selected)


def with_job(frame: Frame, job: Job) -> Frame:
    derived = replace(frame.derived, job=job)
    return replace(frame, derived=derived, history=(derived,))


def job_of(frame: Frame) -> Job:
    assert frame.derived.job is not None
    return frame.derived.job


def with_rank(frame: Frame, number: int, **changes: object) -> Frame:
    ranks = tuple(replace(rank, **changes) if rank.rank == number else rank for rank in job_of(frame).ranks)
    return with_job(frame, replace(job_of(frame), ranks=ranks))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_eight_ranks_are_eight_rows_and_one_card(size: tuple[int, int]) -> None:
    lines = lines_of(page(frames.healthy(), 3), size)
    assert sum("● training" in line and "12,589" in line for line in lines) == 8 + 1
    text = "\n".join(lines)
    assert "Rank 3  PID 41039  GPU 3" in text
    assert "━━ compute ══ data ┅┅ wait ▪▪ save, log ·· other   60 samples" in text
    assert "backward 55%  forward 30%  data 6%" in text
    assert "4 sleeping   CPU 136%" in text
    assert "/scratch/runs/42/logs/rank_3.log   0.5 s ago" in text
    assert "iter 12589" in text


def test_wide_rows_show_all_that_is_known() -> None:
    lines = lines_of(page(frames.healthy()), (200, 60))
    for title in ("pid", "GPU", "step", "ago", "s/step", "phase", "wait", "CPU", "mem", "workers", "log", "last line"):
        assert title in lines[3].split() or title in lines[3], title
    assert "41012" in lines[4]
    assert "4S" in lines[4]


def test_where_there_is_room_the_stack_stands_beside_the_card() -> None:
    lines = lines_of(page(frames.hang(), 5), (200, 60))
    assert any("Rank 5  PID 41057" in line and "Stack of rank 5" in line for line in lines)
    assert not any("Stack of rank" in line for line in lines_of(page(frames.hang(), 5), (120, 40)))


def test_phases_stand_in_the_same_order_whatever_their_shares() -> None:
    base = frames.healthy()
    shares = (
        PhaseShare(phase="collective", share=0.5),
        PhaseShare(phase="forward", share=0.2),
        PhaseShare(phase="data", share=0.2),
    )
    for order in (shares, shares[::-1]):
        lines = lines_of(page(with_rank(base, 0, phase_shares=order)), (200, 60))
        bar = "".join(character for character in lines[4] if character in "━═┅")
        assert list(dict.fromkeys(bar)) == ["━", "═", "┅"]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("count", [64, 512])
def test_a_map_has_a_cell_for_every_rank_and_names_those_that_differ(count: int, size: tuple[int, int]) -> None:
    frame = crowds.sick(count)
    view = page(frame)
    at = arrange(view, *size)["rank-map"]
    lines = [line[at.x : at.x + at.width] for line in lines_of(view, size)[at.y : at.y + at.height]]
    glyphs = {glyph for glyph, _ in marks.RANK_STATE.values()}
    cells = "".join(character for line in lines[1:-2] for character in line if character in glyphs)
    expected = "".join(marks.RANK_STATE[rank.state][0] for rank in job_of(frame).ranks)
    assert cells.startswith(expected)
    text = "\n".join(lines)
    assert "✖ 1 dead   ■ 1 stuck   ▲ 1 slow   ▼ 1 data-wait" in text
    assert f"○ {count - 4} collective-wait" in text
    shown = lines_of(view, size)
    row = next(number for number, line in enumerate(shown) if "Ranks that differ" in line)
    assert f"✖   {count // 2 + 5:>3}  ■ stuck 50s" in shown[row + 2]
    assert f"Rank {count // 2 + 5}  PID" in "\n".join(shown)


def test_a_healthy_crowd_is_alike() -> None:
    text = "\n".join(lines_of(page(crowds.healthy(512))))
    assert "✔ all ranks are alike" in text
    assert "● 512 training" in text


def test_glyphs_of_states_differ_also_in_ascii() -> None:
    glyphs = {to_ascii(glyph) for glyph, _ in marks.RANK_STATE.values()}
    assert len(glyphs) == len(marks.RANK_STATE) == len(RankState.__args__)  # type: ignore[attr-defined]
    assert all(role in ROLES for _, role in marks.RANK_STATE.values())
    assert set(WORST_FIRST) == set(marks.RANK_STATE)


def test_of_ranks_in_one_state_who_only_waits_comes_last() -> None:
    waits = still(0, 30.0, state="stuck", liveness=Liveness(state="waiting", phi=4.0))
    missing = still(1, 30.0, state="stuck", liveness=Liveness(state="stuck asleep", phi=4.0))
    key = STATE.sort.key if STATE.sort is not None else None
    assert key is not None
    assert key(RankRow(rank=missing)) > key(RankRow(rank=waits))  # type: ignore[operator]


@pytest.mark.parametrize(("order", "first"), [("rank", 0), ("state", 63), ("step", 17), ("wait", 17)])
def test_orders(order: str, first: int) -> None:
    view = page(crowds.sick(64)).with_state(RanksState(order=order))
    assert rank_view.ordered(view)[0].rank == first
    assert lines_of(view)


def test_who_differs_and_why() -> None:
    found = rank_view.differing(page(crowds.sick(64)))
    assert [(rank.rank, why) for rank, why in found] == [
        (37, "hang, in metrics.py:77 write_summary"),
        (63, ""),
        (17, "12 steps behind, in graph.py:869 _engine_run_backward"),
        (42, "in dataloader.py:1310 _try_get_data"),
    ]


def test_a_finding_about_all_ranks_makes_none_differ() -> None:
    assert rank_view.differing(page(frames.input_bound())) == []


def test_half_in_one_state_and_half_in_another_is_no_news() -> None:
    base = crowds.healthy(64)
    ranks = tuple(
        replace(rank, state="collective-wait" if rank.rank % 2 else "training") for rank in job_of(base).ranks
    )
    assert rank_view.differing(page(with_job(base, replace(job_of(base), ranks=ranks)))) == []


def test_only_some_ranks_are_on_this_box() -> None:
    base = frames.healthy()
    frame = with_job(base, replace(job_of(base), world_size=64))
    lines = lines_of(page(frame))
    assert "8 of 64 ranks here" in lines[1]
    assert "8 of 64 are on this box" in lines[2]


def test_the_header_names_the_place() -> None:
    base = frames.healthy()
    place = JobPlace(slurm_job="4711", slurm_step="0", slurm_name="gpt2", container="docker 3f2a1b9c0d1e")
    lines = lines_of(page(with_job(base, replace(job_of(base), place=place, restarts=2))), (160, 50))
    assert "8 ranks · restarted 2 times" in lines[1]
    assert "slurm 4711.0 gpt2 · docker 3f2a1b9c0d1e" in lines[1]


def test_the_card_says_what_holds_a_rank_up() -> None:
    blocked = BlockedThread(
        pid=41_058, comm="pt_data_worker", is_worker=True, is_main=True, for_s=52, wchan="rpc_wait_bit_killable"
    )
    hot = HotLine(
        function="crop", file="data/transforms.py", line=88, code="x = crop(x)", phase="data", share=0.61, samples=37
    )
    text = "\n".join(lines_of(page(with_rank(frames.hang(), 5, blocked=blocked, hot_lines=(hot,)))))
    assert "worker pt_data_worker of PID 41058 in state D for 52 s, in rpc_wait_bit_killable" in text
    assert "61% transforms.py:88 x = crop(x)" in text


def test_the_bar_shows_waits_inside_of_backward_as_the_column_does() -> None:
    first = job_of(frames.healthy()).ranks[0]
    shares = (PhaseShare(phase="backward", share=0.9), PhaseShare(phase="data", share=0.1))
    waiting = replace(first, stack=replace(first.stack, shares=shares, wait_share=0.8))
    found = {marks.MIX[role][1]: round(share, 2) for share, role, _ in mix(waiting)}
    assert found == {"compute": 0.1, "data": 0.1, "wait": 0.8}


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_job_that_ended_keeps_exit_codes_and_last_words(size: tuple[int, int]) -> None:
    base = frames.dead_rank()

    def over(rank: Rank) -> Rank:
        return replace(rank, is_alive=False, state="dead", exit_code=1 if rank.rank else 0, last_line="bye")

    ranks = tuple(over(rank) for rank in job_of(base).ranks)
    job = replace(job_of(base), ranks=ranks, has_ended=True, ended_for_s=12.0, processes=())
    frame = replace(with_job(base, job), findings=(), verdict=replace(base.verdict, level="ended", text="it has ended"))
    for view in (page(frame), View(frame=frame)):
        lines = lines_of(view, size)
        text = "\n".join(lines)
        assert "job ended 12 s ago" in lines[1]
        assert "✖ dead exit 1" in text
        assert "✖ dead exit 0" in text
        assert "iter 12589" in text
    assert "✖ rank 1: exit 1" in "\n".join(lines_of(View(frame=frame), size))
    assert "■ rank 0: exit 0" in "\n".join(lines_of(View(frame=frame), size))
    assert "last words" in "\n".join(lines_of(page(frame, 1), size))


def test_what_is_shown_next_to_the_list_is_one_of_those_that_the_filter_lets_through() -> None:
    view = replace(page(frames.hang(), selected=0), filters={"ranks": "rank=3"})
    assert any("Rank 3" in line for line in lines_of(view))
    assert not any("Rank 0" in line for line in lines_of(view))
    assert any("Rank 0" in line for line in lines_of(replace(view, filters={})))
