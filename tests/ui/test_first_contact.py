"""What a newcomer sees: which job to pick, the few keys that matter, what is being done, and what hinders."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from hwtop.commands.shared import first_run
from hwtop.model.frame import Frame
from hwtop.model.stack import StackDump
from hwtop.model.symptom import Blind
from hwtop.ui import progress
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import picture
from hwtop.ui.panels import hint
from hwtop.ui.panels.picker import PickerState, candidates, moved_to, place
from hwtop.ui.reducers.time import arrived
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text

SIZES = [(80, 24), (60, 15), (120, 40), (200, 60)]
ERROR, ADVICE = "kernel.yama.ptrace_scope is 1 (only children)", "sudo sysctl kernel.yama.ptrace_scope=0"


def rows(view: View, size: tuple[int, int] = (80, 24)) -> list[str]:
    lines = [line.text for line in picture(view, *size)]
    assert len(lines) == size[1]
    return lines


def with_stacks(given: list[StackDump | None], *, watched_s: float = 3.0) -> Frame:
    """A job whose ranks have these stacks."""
    frame = frames.healthy()
    job = frame.derived.job
    assert job is not None
    ranks = tuple(replace(rank, stack=stack) for rank, stack in zip(job.ranks, given, strict=False))
    errors = tuple({(stack.error, stack.advice or ""): None for stack in given if stack and stack.error})
    job = replace(job, ranks=ranks, stack_errors=errors)
    return replace(frame, derived=replace(frame.derived, job=job), watched_s=watched_s)


def refused() -> Frame:
    dump = StackDump(pid=1, at_s=1.0, error=ERROR, advice=ADVICE)
    return with_stacks([dump] * 8)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_jobs_are_listed_with_what_hinders_and_what_helps(size: tuple[int, int]) -> None:
    shown = "\n".join(rows(View(frame=frames.picker()), size))
    assert f"Enter attaches to {frames.LAUNCHER}" in shown
    assert shown.count("sudo $(command -v hwtop)") == 1
    assert "2 training jobs" in shown
    assert "Host" in shown or "CPU" in shown


def test_a_trainer_without_a_launcher_is_listed_by_its_library() -> None:
    frame = frames.picker()
    loaded = tuple(
        replace(each, framework="jax") if each.kind == "python" else each for each in frame.derived.candidates or ()
    )
    shown = rows(View(frame=replace(frame, derived=replace(frame.derived, candidates=loaded))))
    assert any("● jax" in row for row in shown)
    assert "2 training jobs, 1 with a training library" in shown[2]


def test_a_narrow_screen_names_its_pages_once() -> None:
    shown = rows(View(frame=frames.healthy(), is_first=True))
    assert "8 host 9 processes 0 symptoms" in shown[-2]
    assert "8 host" not in rows(View(frame=frames.healthy(), is_first=True), (120, 40))[-2]


def test_a_job_that_cannot_be_attached_says_why_where_the_cursor_is() -> None:
    shown = "\n".join(rows(View(frame=frames.picker()).with_state(PickerState(1))))
    assert "▲ cannot attach: belongs to user bob" in shown
    assert "Enter attaches" not in shown


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_with_nothing_to_pick_the_box_is_shown_and_how_to_try(size: tuple[int, int]) -> None:
    shown = "\n".join(rows(View(frame=frames.nothing_to_pick()), size))
    assert "hwtop demo hang" in shown
    assert "Host" in shown or "CPU" in shown
    assert "GPU" in shown or size == (60, 15)


def test_where_no_job_trains_the_demo_is_named() -> None:
    frame = frames.picker()
    others = tuple(item for item in frame.derived.candidates or () if item.kind != "training")
    shown = "\n".join(rows(View(frame=replace(frame, derived=replace(frame.derived, candidates=others)))))
    assert "No training job among them: hwtop demo tries one" in shown


def test_the_cursor_stays_on_the_job_that_was_chosen_while_others_come() -> None:
    frame = frames.picker()
    (job, *_) = [item for item in frame.derived.candidates or () if item.kind == "training"]

    def with_jobs(*pids: int) -> Frame:
        return replace(frame, derived=replace(frame.derived, candidates=tuple(replace(job, pid=pid) for pid in pids)))

    chosen = moved_to(View(frame=with_jobs(1000, 1001)), 1)
    assert candidates(chosen)[place(chosen)].pid == 1001
    more = replace(chosen, frame=with_jobs(1003, 1002, 1000, 1001))
    assert candidates(more)[place(more)].pid == 1001
    gone = replace(chosen, frame=with_jobs(1000))
    assert candidates(gone)[place(gone)].pid == 1000


def test_another_job_does_not_slip_under_the_cursor_before_any_key() -> None:
    frame = frames.picker()
    (job, *_) = [item for item in frame.derived.candidates or () if item.kind == "training"]

    def among(number: int, *pids: int) -> Frame:
        listed = tuple(replace(job, pid=pid, ranks=pid) for pid in pids)
        return replace(frame, number=number, derived=replace(frame.derived, candidates=listed))

    view = arrived(View(frame=among(1, 1000)), among(2, 1000))
    view = arrived(view, among(3, 1000, 2000))
    assert [each.pid for each in candidates(view)] == [2000, 1000]
    assert candidates(view)[place(view)].pid == 1000


def test_more_jobs_than_rows_keep_the_cursor_and_the_advice_in_sight() -> None:
    frame = frames.picker()
    (job, *_) = [item for item in frame.derived.candidates or () if item.kind == "training"]
    many = tuple(replace(job, pid=1000 + number) for number in range(200))
    frame = replace(frame, derived=replace(frame.derived, candidates=many))
    shown = rows(View(frame=frame).with_state(PickerState(150)))
    assert any("▸    1150" in row for row in shown)
    assert any("Enter attaches to 1150" in row for row in shown)
    assert any(" of 200 " in row for row in shown)


@pytest.mark.parametrize("key", ["v", "2", "tab", "question_mark", "colon"])
def test_the_first_keys_are_told_until_one_is_pressed(key: str) -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        assert any("New here?" in row and "? help" in row and "q quit" in row for row in screen_text(app))
        await pilot.press(key, "escape")
        await pilot.pause()
        assert not any("New here?" in row for row in screen_text(app))

    drive(act, frames.healthy(), options=ScreenOptions(is_first=True), size=(80, 24))


@pytest.mark.parametrize("size", [*SIZES, (59, 14)], ids=str)
def test_the_first_line_fits(size: tuple[int, int]) -> None:
    for frame in (frames.hang(), frames.picker(), frames.nothing_to_pick()):
        rows(View(frame=frame, is_first=True), size)


def test_the_first_time_is_the_first_time_only(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert first_run.is_first(environ)
    assert not first_run.is_first(environ)


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nowhere", "/dev/null/below"])
def test_where_nothing_can_be_written_each_time_is_the_first(home: str) -> None:
    for _ in range(2):
        assert first_run.is_first({"XDG_STATE_HOME": home})


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_missing_permission_is_told_once_with_the_command(size: tuple[int, int]) -> None:
    view = View(frame=refused())
    shown = " ".join(" ".join(rows(view, size)).split())
    assert shown.count(ADVICE) == 1
    assert f"No Python stacks of the ranks: {ERROR}" in shown
    view = hint.read(view)
    assert ADVICE not in " ".join(rows(view, size))
    assert hint.read(view) is view


def test_no_permission_is_missing_where_a_stack_came() -> None:
    assert hint.rows(View(frame=frames.healthy()), 80) == 0
    assert hint.rows(View(frame=frames.hang()), 80) == 0


def test_what_takes_time_has_a_word() -> None:
    (dump, *_) = [rank.stack.dump for rank in frames.healthy().derived.job.ranks]  # type: ignore[union-attr]
    some = with_stacks([dump] * 3 + [None] * 5)
    assert progress.word(View(frame=some)) == "stacks 3 of 8 …"
    assert "stacks 3 of 8 …" in rows(View(frame=some))[1]
    assert progress.word(View(frame=with_stacks([dump] * 8))) == ""
    assert progress.word(View(frame=with_stacks([None] * 8, watched_s=100))) == "", "none will come any more"
    attaching = View(frame=frames.picker(), attaching=41_000)
    assert "attaching to 41000 …" in rows(attaching)[1]
    assert "attaching to 41000 …" in "\n".join(rows(attaching, (59, 14)))
    assert progress.word(replace(attaching, frame=frames.healthy())) == ""
    early = replace(frames.picker(), derived=replace(frames.picker().derived, candidates=None))
    assert progress.word(View(frame=early)) == "looking for the job …"


@pytest.mark.parametrize("size", [(80, 24), (20, 3), (1, 1)], ids=str)
def test_before_the_first_look_the_screen_says_so(size: tuple[int, int]) -> None:
    lines = hint.waiting({}, None, *size)
    assert len(lines) == size[1]
    assert {line.width for line in lines} == {size[0]}
    assert size[0] < 40 or any("first look" in line.text for line in lines)


@pytest.mark.parametrize("page", ["overview", "gpu"])
def test_why_there_are_no_gpu_numbers_is_never_cut_within_a_reason(page: str) -> None:
    frame = frames.healthy()
    reason = "no NVIDIA driver: libnvidia-ml.so.1 not found; no AMD, Intel or TPU device in the list of PCI devices"
    derived = replace(frame.derived, gpus=(), gpu_rates=(), sources=())
    frame = replace(frame, derived=derived, blind=(Blind(source="gpu", reason=reason),))
    shown = " ".join("\n".join(rows(View(frame=frame, page=page))).replace("│", " ").split())
    assert reason in shown or f"{reason.split('; ')[0]} …" in shown
    assert "TPU device" in shown or page == "overview"


def test_the_list_shows_what_each_job_uses_and_first_what_writes_nothing_any_more() -> None:
    frame = frames.picker()
    quiet = tuple(
        replace(each, log_age_s=500.0, can_attach=True, reason=None) if each.pid == 52_007 else each
        for each in frame.derived.candidates or ()
    )
    shown = rows(View(frame=replace(frame, derived=replace(frame.derived, candidates=quiet))), (120, 40))
    jobs = [line for line in shown if "● training" in line]
    assert ["▲8m" in line for line in jobs] == [True, False]
    assert "803%" in jobs[1]
    assert "96.0G" in jobs[1]
