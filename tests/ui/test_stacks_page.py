"""The stacks page: a sentence to copy, the tree of all ranks, the threads of one."""

from __future__ import annotations

import pytest

from hwtop.model.frame import Frame
from hwtop.model.hang import CollectiveTimeout
from hwtop.model.job import Job, OutlierVote, StackGroup
from hwtop.model.rank import Held, Rank
from hwtop.model.reported.flight import FlightVerdict
from hwtop.model.stack import Refusal, StackDump
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels.stacks import conclusion
from hwtop.ui.view import View
from tests import crowds, frames
from tests.parts import replace

SIZES = [(80, 24), (120, 40), (200, 60)]
SENTENCE = "ranks 0-4,6-7 wait in all_reduce (train.py:212 mean_loss), rank 5 is in write_summary (metrics.py:77)"


def lines_of(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    return [line.text for line in picture(view, *size)]


def flat(view: View, size: tuple[int, int]) -> str:
    return " ".join("\n".join(lines_of(view, size)).replace("│", " ").split())


def page(frame: Frame, selected: int | None = None) -> View:
    return View(frame=frame, page="stacks", selected=selected)


def hang(**changes: object) -> Frame:
    frame = frames.hang()
    assert frame.derived.job is not None
    return replace(frame, derived=replace(frame.derived, job=replace(frame.derived.job, **changes)))


def job_of(frame: Frame) -> Job:
    assert frame.derived.job is not None
    return frame.derived.job


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_sentence_the_branches_and_the_odd_rank(size: tuple[int, int]) -> None:
    lines = lines_of(page(frames.hang()), size)
    assert f"▲ {SENTENCE}" in flat(page(frames.hang()), size)
    majority = next(line for line in lines if " 0-4,6-7    7  ├ mean_loss" in line)
    assert "train.py:212" in majority
    minority = next(line for line in lines if "▸ 5          1  └ after_step" in line)
    assert "train.py:232" in minority
    assert any("all_reduce" in line and "collective" in line for line in lines)
    assert any("Stack of rank 5  PID 41057" in line for line in lines)
    assert any("MainThread  running" in line for line in lines)


def test_what_all_ranks_share_stands_once_on_top() -> None:
    lines = lines_of(page(frames.hang()))
    tree = lines.index(next(line for line in lines if "Where the ranks are" in line))
    assert "0-7        8  <module>" in lines[tree + 1]
    assert lines[tree + 2].split()[1:3] == ["train", "train.py:291"]


def test_long_ways_through_libraries_are_one_row() -> None:
    inner = tuple(frames.frame_of(f"call_{number}", "torch/nn/modules/module.py", 1) for number in range(6))
    way = (frames.MAIN[1], frames.MAIN[0], *inner)
    group = StackGroup(ranks=(0, 1), frames=way, phase="forward", user_frame=way[1], leaf=way[-1])
    lines = lines_of(page(hang(stack_groups=(group,))))
    assert any("⋮ 5 library frames" in line for line in lines)
    assert any("call_5" in line for line in lines)
    assert not any("call_4" in line for line in lines)


def test_a_rank_that_goes_less_far_has_a_branch_of_its_own() -> None:
    way = (frames.MAIN[1], frames.MAIN[0], frames.frame_of("save", "metrics.py", 9))
    groups = (
        StackGroup(ranks=(0, 2), frames=way[:2], phase="other", user_frame=way[1], leaf=way[1]),
        StackGroup(ranks=(1,), frames=way, phase="other", user_frame=way[2], leaf=way[2]),
    )
    lines = lines_of(page(hang(stack_groups=groups)))
    assert any(line.split()[1:5] == ["1", "1", "└", "save"] for line in lines)


def test_many_groups_keep_the_selected_one_in_sight() -> None:
    groups = tuple(
        StackGroup(
            ranks=(number,),
            frames=(*frames.MAIN[::-1], frames.frame_of(f"f{number}", "model.py", number + 1)),
            phase="forward",
            user_frame=None,
            leaf=frames.frame_of(f"f{number}", "model.py", number + 1),
        )
        for number in range(64)
    )
    base = crowds.healthy(64)
    frame = replace(base, derived=replace(base.derived, job=replace(job_of(base), stack_groups=groups)))
    for selected in (0, 40, 63):
        lines = lines_of(page(frame, selected), (100, 30))
        assert any(f"▸ {selected}" in line and f"f{selected} " in line for line in lines)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_flight_recorder_timeout_and_vote_are_told(size: tuple[int, int]) -> None:
    verdict = FlightVerdict(
        kind="missing",
        group="default_pg",
        sequence=812,
        operation="all_reduce",
        culprits=(5,),
        waiting=(0, 1, 2),
        text="rank 5 never enqueued all_reduce #812",
        evidence=("ranks 0-2 enqueued #812 at train.py:212",),
        ranks_seen=(0, 1, 2),
        ranks_without_dump=(5,),
    )
    timeout = CollectiveTimeout(backend="nccl", rank=0, timeout_s=600, origin="its log", waited_s=50)
    frame = hang(flight=verdict, timeout=timeout, outlier_vote=OutlierVote(rank=5, votes=4, rounds=5))
    said = conclusion.said(page(frame))
    assert said == (
        f"{SENTENCE}; Flight Recorder: rank 5 never enqueued all_reduce #812; "
        "nccl gives up in at most 9 min 10 s (rank 0; 10 min by its log)"
    )
    text = flat(page(frame), size)
    assert "Flight Recorder: rank 5 never enqueued all_reduce #812" in text
    if size[0] > 80:
        assert "• ranks 0-2 enqueued #812 at train.py:212" in text
        assert "no dump of rank 5" in text
        assert "nccl gives up in at most 9 min 10 s" in text
        assert "rank 5 was the outlier in 4 of 5 rounds" in text


def test_settings_of_the_recorder_are_told_without_a_dump() -> None:
    text = flat(
        page(hang(flight_settings=("Flight Recorder: off: set TORCH_FR_BUFFER_SIZE=2000 before the next run",))),
        (120, 40),
    )
    assert "Flight Recorder: off: set TORCH_FR_BUFFER_SIZE=2000 before the next run" in text


def test_source_text_stands_beside_its_frame() -> None:
    frame = frames.hang()
    ranks = job_of(frame).ranks
    stack = ranks[5].stack.dump
    assert stack is not None
    main = replace(
        stack.threads[0],
        frames=tuple(replace(each, code="writer.flush()") if each.line == 77 else each for each in frames.SAVE),
    )
    changed = replace(ranks[5], stack=replace(stack, threads=(main, *stack.threads[1:])))
    frame = hang(ranks=(*ranks[:5], changed, *ranks[6:]))
    lines = [line for line in lines_of(page(frame)) if "writer.flush()" in line]
    assert len(lines) == 2  # in the tree and in the rank's own stack


def test_a_stack_that_cannot_be_read_says_each_reason() -> None:
    frame = frames.hang()
    ranks = job_of(frame).ranks
    dump = StackDump(
        pid=ranks[5].pid,
        at_s=1_000.0,
        error="py-spy may not attach",
        advice="run sudo hwtop 41057",
        refusals=(Refusal(rung="debug-server", reason="no socket", advice="set TORCH_DEBUG=1"),),
    )
    frame = hang(ranks=(*ranks[:5], replace(ranks[5], stack=dump), *ranks[6:]), stack_groups=())
    frame = replace(
        frame,
        derived=replace(
            frame.derived, job=replace(job_of(frame), stack_errors=((dump.error or "", dump.advice or ""),))
        ),
    )
    text = flat(page(frame, 5), (120, 40))
    assert "no stack could be read" in text
    assert "→ run sudo hwtop 41057" in text
    assert "debug-server: no socket → set TORCH_DEBUG=1" in text


def test_stuck_and_slow_are_told_apart() -> None:
    ranks = job_of(frames.hang()).ranks
    for is_still, same_s, expected in (
        (True, 50.0, "stuck: 6 samples over 50 s show no change below metrics.py:77"),
        (False, 2.0, "moves: 6 samples over 50 s, always in metrics.py:77"),
    ):
        text = flat(page(hang(ranks=(*ranks[:5], _held(ranks[5], is_still, same_s), *ranks[6:])), 5), (160, 50))
        assert expected in text


def test_looks_do_not_contradict_what_is_known_better() -> None:
    ranks = job_of(frames.hang()).ranks
    moves = flat(page(hang(ranks=(*ranks[:5], _held(ranks[5], False, 50.0), *ranks[6:])), 5), (160, 50))
    assert "the same for 50 s" in moves
    assert "moves:" not in moves, "some of the looks are from before it stood still"
    early = flat(page(hang(ranks=(*ranks[:5], _held(ranks[5], True, 90.0, step_age_s=80.0), *ranks[6:])), 5), (160, 50))
    assert "the same for 80 s" in early, "not since before its last step"
    assert "stuck: no change below metrics.py:77" in early, "few looks say less than that"
    steps = _held(ranks[5], True, 50.0, step_age_s=0.1)
    healthy = flat(page(hang(ranks=(*ranks[:5], steps, *ranks[6:])), 5), (160, 50))
    assert "stuck:" not in healthy, "it comes back to that place in each step"
    assert "the same for" not in healthy


def _held(rank: Rank, is_still: bool, same_s: float, **more: object) -> Rank:
    held = Held(frame=frames.SAVE[0], is_still=is_still, looks=6, seconds=50)
    return replace(rank, held=held, same_stack_for_s=same_s, **more)


def test_a_dead_rank_shows_where_it_was_last_seen() -> None:
    frame = frames.dead_rank()
    text = flat(page(frame, 1), (120, 40))
    assert "this rank has ended; this is where it was last seen" in text
    assert "Tensor.backward" in text
    ranks = job_of(frame).ranks
    job = replace(job_of(frame), ranks=(ranks[0], replace(ranks[1], stack=None)))
    unseen = replace(frame, derived=replace(frame.derived, job=job))
    assert "this rank has ended, and no stack of it was seen before" in flat(page(unseen, 1), (120, 40))


def test_the_conclusion_of_a_job_that_ended_is_how_it_ended() -> None:
    frame = frames.dead_rank()
    ranks = job_of(frame).ranks
    over = (replace(ranks[0], is_alive=False, exit_code=0), ranks[1])
    job = replace(job_of(frame), ranks=over, has_ended=True, stack_groups=())
    view = page(replace(frame, derived=replace(frame.derived, job=job)))
    assert conclusion.said(view) == "the job has ended: rank 1: signal 9, rank 0: exit 0"
    assert "no stacks: the job has ended" in flat(view, (80, 24))
