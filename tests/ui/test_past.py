"""Earlier frames are shown again as they were, in bounded memory, for as long as the watch lasts."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from hwtop.model.frame import Frame
from hwtop.seconds import meant_s
from hwtop.ui import past
from hwtop.ui.panels import picture_time
from hwtop.ui.past import FrameHistory
from hwtop.ui.reducers import time as time_moves
from hwtop.ui.reducers.time import pressed, sought, typed_time
from hwtop.ui.view import View
from tests import frames
from tests.parts import replace
from tests.recording import replay


@pytest.fixture(scope="module")
def watch() -> list[Frame]:
    """A job of 8 ranks on 8 GPUs that hangs after a minute."""
    return replay("hang")


@pytest.fixture(scope="module")
def view(watch: list[Frame]) -> View:
    return watched(watch)


def watched(given: list[Frame]) -> View:
    view = View(frame=given[0])
    for frame in given:
        view = time_moves.arrived(view, frame)
    return view


def second(number: int, frame: Frame, *, asleep_s: float = 0.0) -> Frame:
    """`frame` as the one of this second of a watch, after so long a sleep of the machine."""
    time_s = frames.T0 + number + asleep_s
    derived = replace(frame.derived, time_s=time_s, at_s=1_000.0 + number)
    return replace(frame, number=number, watched_s=float(number), derived=derived, history=(derived,))


@cache
def _empty() -> Frame:
    return frames.nothing_to_pick()


def small(number: int) -> Frame:
    """A frame that is quick to pack: of a box without a job."""
    return second(number, _empty())


@pytest.mark.slow
def test_every_frame_of_two_minutes_is_shown_as_it_was(watch: list[Frame], view: View) -> None:
    assert len(view.past.kept) == len(watch)
    for place, frame in enumerate(watch):
        shown = past.frame_of(view.past, place)
        assert (shown.verdict, shown.findings, shown.blind) == (frame.verdict, frame.findings, frame.blind)
        assert (shown.hypotheses, shown.episodes) == (frame.hypotheses, frame.episodes)
        assert replace(shown.derived, job=None) == replace(frame.derived, job=None)
        assert shown.derived.job is not None
        assert shown.derived.job == frame.derived.job
        assert [derived.at_s for derived in shown.history] == [derived.at_s for derived in frame.history]


def test_a_whole_day_stays_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "MOST", 100)
    kept = FrameHistory()
    for number in range(3_000):
        kept = past.with_frame(kept, small(number))
    assert len(kept.kept) == 100
    assert kept.kept[0].number == 0
    apart = [after.number - before.number for before, after in pairwise(kept.kept)]
    assert set(apart[-10:]) == {1}
    ages = [2_999 - each.number for each in kept.kept[1:]]
    assert all(gap <= max(2, age * 0.25) for gap, age in zip(apart, ages, strict=True))


def test_bytes_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    base = frames.healthy()
    monkeypatch.setattr(past, "MOST_BYTES", 100_000)
    kept = FrameHistory()
    for number in range(60):
        kept = past.with_frame(kept, second(number, base))
    assert 80_000 < kept.size_bytes <= 100_000
    assert past.frame_of(kept, 0).number == 0


def test_frames_full_of_log_lines_are_kept_less_often() -> None:
    base = frames.healthy()
    job = base.derived.job
    assert job is not None
    lines = tuple(replace(job.logs.lines[0], line_no=number, text="x" * 16_000) for number in range(300))
    flooded = replace(base, derived=replace(base.derived, job=replace(job, lines=lines)))
    kept = FrameHistory()
    for number in range(60):
        kept = past.with_frame(kept, second(number, flooded))
    assert [each.number for each in kept.kept] == [0, 10, 20, 30, 40, 50, 59]


def test_moments_at_which_findings_come_and_go_outlive_their_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "MOST", 40)
    finding = frames.hang().findings[0]
    kept = FrameHistory()
    for number in range(1_000):
        ill = (finding,) if 100 <= number < 130 else ()
        kept = past.with_frame(kept, replace(small(number), findings=ill))
    assert [(each.number, each.raised, each.has_cleared) for each in kept.kept if each.is_turn] == [
        (100, "critical", False),
        (130, None, True),
    ]


def test_a_sleep_of_the_machine_is_a_gap_even_when_frames_around_it_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "MOST", 20)
    kept = FrameHistory()
    for number in range(200):
        kept = past.with_frame(kept, second(number, small(0), asleep_s=3_600.0 if number >= 50 else 0.0))
    assert [each.gap_s for each in kept.kept if each.gap_s] == [3_601.0]


def test_another_watch_begins_a_past_of_its_own() -> None:
    kept = past.with_frame(past.with_frame(FrameHistory(), small(7)), small(8))
    assert len(kept.kept) == 2
    assert [each.number for each in past.with_frame(kept, small(1)).kept] == [1]


def test_the_same_look_told_anew_takes_its_own_place() -> None:
    first = second(2, frames.healthy())
    failed = replace(first, verdict=replace(first.verdict, text="hwtop itself has failed"))
    kept = past.with_frame(past.with_frame(past.with_frame(FrameHistory(), small(1)), first), failed)
    assert [each.number for each in kept.kept] == [1, 2]
    assert past.frame_of(kept, 1).verdict.text == "hwtop itself has failed"


def test_steps_go_back_to_the_first_frame_and_on_to_now(watch: list[Frame], view: View) -> None:
    back = pressed(pressed(view, "step-back"), "step-back")
    assert (back.is_paused, back.frame.number) == (True, watch[-3].number)
    assert picture_time.words(back).endswith(", 2 s ago")
    again = pressed(back, "step-on")
    assert (again.is_paused, again.frame.number) == (True, watch[-2].number)
    now = pressed(pressed(again, "step-on"), "step-on")
    assert (now.is_paused, now.frame is watch[-1]) == (False, True)
    oldest = sought(view, 0.0)
    assert oldest.frame.number == watch[0].number
    assert "first picture" in pressed(oldest, "step-back").note


def test_findings_are_visited_in_turn() -> None:
    finding = frames.hang().findings[0]
    view = watched([replace(small(number), findings=(finding,) if 20 <= number < 30 else ()) for number in range(50)])
    gone = pressed(view, "turn-back")
    assert (gone.frame.number, gone.frame.findings) == (30, ())
    came = pressed(gone, "turn-back")
    assert (came.frame.number, came.frame.findings) == (20, (finding,))
    before = pressed(came, "turn-back")
    assert (before.frame.number, before.note) == (20, "no finding appeared or cleared before this moment")
    assert pressed(before, "turn-on").frame.number == 30
    assert not pressed(pressed(before, "turn-on"), "turn-on").is_paused


def test_new_frames_are_kept_while_the_picture_stands_still(watch: list[Frame]) -> None:
    view = pressed(watched(watch[:50]), "pause")
    for frame in watch[50:]:
        view = time_moves.arrived(view, frame)
    assert view.frame is watch[49]
    assert picture_time.is_past(view)
    assert pressed(view, "step-on").frame.number == watch[50].number
    assert pressed(view, "pause").frame is watch[-1]


def test_a_held_frame_that_is_no_longer_kept_has_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "MOST", 10)
    view = pressed(watched([small(number) for number in range(6)]), "pause")
    view = pressed(view, "step-back")
    held = view.frame.number
    for number in range(6, 300):
        view = time_moves.arrived(view, small(number))
    assert held not in [each.number for each in view.past.kept]
    assert pressed(view, "step-back").frame.number < held < pressed(view, "step-on").frame.number


def type_in(view: View, text: str) -> View:
    view = pressed(view, "ask")
    for character in text:
        view = typed_time(view, character, character)
    return typed_time(view, "enter", "\r")


def test_a_typed_time_is_gone_to(watch: list[Frame], view: View) -> None:
    assert type_in(view, "-30s").frame.number == watch[-31].number
    wanted = watch[40]
    clock = picture_time.words(replace_frame(view, wanted)).split(",")[0]
    assert type_in(view, clock).frame.number == wanted.number
    assert not type_in(view, "now").is_paused
    far = type_in(view, "-2h")
    assert far.frame.number == watch[0].number
    assert "was not sampled" in far.note


def replace_frame(view: View, frame: Frame) -> View:

    return replace(view, frame=frame)


@pytest.mark.parametrize("text", ["soon", "25:00", "14:61", "14", "-", "3", "-3x", "::", "١٤:٠٢", "14:02:10:11"])
def test_what_is_no_time_stays_to_be_mended(view: View, text: str) -> None:
    after = type_in(view, text)
    assert (after.time_typed, after.is_paused) == (text, False)
    assert typed_time(typed_time(after, "ctrl+u", None), "enter", None).time_typed is None
    assert typed_time(after, "escape", None).time_typed is None


def test_times_are_read_as_people_write_them() -> None:
    now_s = 1_790_000_000.0
    for text, ago_s in (
        ("-3m", 180),
        ("3m ago", 180),
        ("90s", 90),
        ("-1h30m", 5_400),
        ("2 min ago", 120),
        ("1d", 86_400),
    ):
        assert meant_s(text, now_s) == now_s - ago_s
    clock = meant_s("00:00", now_s)
    assert clock is not None
    assert 0 <= now_s - clock < 86_400
    later = meant_s("23:59:59", now_s)
    assert later is not None
    assert later <= now_s


def test_a_file_name_that_is_not_utf8_is_kept_with_question_marks() -> None:
    def named(number: int) -> Frame:
        frame = small(number)
        return replace(frame, derived=replace(frame.derived, host="node-\udcff"))

    kept = FrameHistory()
    for number in range(1, 5):
        kept = past.with_frame(kept, named(number))
    assert past.frame_of(kept, 0).derived.host == "node-?"
