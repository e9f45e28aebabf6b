"""The curves page: what the training told, on axes that one odd value cannot spoil."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from hwtop.model.curve import CurveName
from hwtop.model.frame import Frame
from hwtop.model.reported.log import LogFile
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages.layout import arrange, picture
from hwtop.ui.panels.curves import view as curve_view
from hwtop.ui.panels.curves.state import CurvesState
from hwtop.ui.view import View
from tests import curve_frames, frames
from tests.curve_frames import curve, with_curves
from tests.parts import replace
from tests.ui.test_app import FakeFeed, drive, screen_text, view_of

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]


def screen(view: View, size: tuple[int, int] = (120, 40)) -> list[str]:
    lines = picture(replace(view, page="curves"), *size)
    assert [line.width for line in lines] == [size[0]] * size[1]
    return [line.text for line in lines]


def shown(frame: Frame, size: tuple[int, int] = (120, 40), **how: object) -> str:
    return "\n".join(screen(View(frame=frame, **how), size))  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_newest_value_step_and_trend_are_in_sight_at_every_size(size: tuple[int, int]) -> None:
    text = shown(frames.healthy(), size)
    assert "Loss" in text
    assert "now 2.326 at step 12,580" in text
    assert "10,000" in text or size[1] < 24
    if size[0] >= 70:
        assert all(name in text for name in ("Gradient norm", "Learning rate", "Step time", "Throughput"))
        assert "rank 0" in text


def test_one_curve_alone_has_the_whole_page() -> None:
    view = View(frame=with_curves(curve("loss", [(step, 3.0 - step / 100) for step in range(100)])), page="curves")
    assert "curve-list" not in arrange(view, 120, 40)
    assert arrange(view, 120, 40)["curve"].width == 120


def test_a_few_huge_values_do_not_flatten_the_rest_and_are_told() -> None:
    reported = [(step, 900.0 if step in (0, 40) else 3.0 - step / 100) for step in range(100)]
    text = shown(with_curves(curve("loss", reported)))
    assert "2 values above" in text
    assert "up to 900" in text
    assert "2.2 ┤" in text
    assert "3.0 ┤" in text
    assert text.count("▲") >= 3  # at both places, and in the legend


def test_nan_is_marked_on_the_axis_and_told() -> None:
    rows = screen(View(frame=curve_frames.broken()))
    text = "\n".join(rows)
    assert "✖ now nan at step 711" in text
    assert "✖ 12 values nan or inf, the first at step 700" in text
    axis = next(row for row in rows if "└" in row[40:])
    assert "✖" in axis[40:]
    assert "R" in axis[40:]
    assert "R went on from step 300" in text


def test_the_axis_goes_on_where_the_loss_is_nan() -> None:
    reported = [(step, 2.0 - step / 100 if step < 40 else float("nan")) for step in range(180)]
    rows = screen(View(frame=with_curves(curve("loss", reported))))
    axis = next(row for row in rows if "└" in row)
    assert axis.count("✖") > 60
    assert "180" in rows[rows.index(axis) + 1]


def test_only_nan_is_said_and_does_not_fail() -> None:
    for is_log in (False, True):
        frame = with_curves(curve("loss", [(step, float("nan")) for step in range(9)]))
        scales: frozenset[CurveName] = frozenset({"loss"}) if is_log else frozenset()
        assert "every value reported so far is nan or inf" in shown(
            frame, states={CurvesState: CurvesState(log_scales=scales)}
        )


def test_an_event_stands_at_the_step_before_it() -> None:
    frame = curve_frames.broken()
    assert frame.derived.job is not None
    event = replace(frame.derived.job.logs.events[0], pattern="loss-nan", at_s=curve_frames.AT_S - 5)
    reported = curve("loss", [(step, 2.0 + step % 3) for step in range(100)])
    assert "✖ loss-nan after step 94" in shown(with_curves(reported, events=(event,)))
    again = replace(event, at_s=curve_frames.AT_S - 2)
    assert shown(with_curves(reported, events=(event, again))).count("loss-nan after step") == 1
    past = replace(event, is_past=True)
    assert "loss-nan" not in shown(with_curves(reported, events=(past,)))


def test_steady_numbers_look_steady() -> None:
    reported = [(step, 0.312 + 0.002 * (step % 2)) for step in range(100)]
    rows = screen(View(frame=with_curves(curve("step_time_s", reported))))
    plot = [row for row in rows if "│" in row[2:12] or "┤" in row[2:12]]
    assert sum(any(0x2800 < ord(character) <= 0x28FF for character in row) for row in plot) <= 2
    assert "→ steady over 50 values" in "\n".join(rows)


def test_log_scale_leaves_out_what_it_cannot_show() -> None:
    reported = [(step, 10.0 ** -(step / 20)) for step in range(100)]
    text = shown(
        with_curves(curve("loss", reported)), states={CurvesState: CurvesState(log_scales=frozenset({"loss"}))}
    )
    assert "log scale" in text
    assert " 0.1 ┤" in text
    nothing = with_curves(curve("loss", [(step, -1.0) for step in range(10)]))
    assert "no value above 0" in shown(nothing, states={CurvesState: CurvesState(log_scales=frozenset({"loss"}))})


def test_values_without_a_step_are_shown_in_their_order() -> None:
    text = shown(with_curves(curve("loss", [(None, 3.0 - number / 50) for number in range(50)])))
    assert "no step is reported with it" in text
    assert "value" in text


def test_past_values_say_so() -> None:
    assert "reported before hwtop started" in shown(with_curves(curve("loss", [(1, 3.0), (2, 2.0)], is_past=True)))


def test_nothing_told_says_what_is_followed_and_what_to_do() -> None:
    frame = with_curves()
    text = shown(frame, (80, 24))
    assert "No step or loss has been read from logs or metric files." in text
    assert "/scratch/runs/42/logs/rank_3.log" in text
    assert "from hwtop import heartbeat" in text
    assert "heartbeat(step=step, loss=loss.item())" in text
    job = frame.derived.job
    assert job is not None
    reason = "stdout is a terminal (/dev/pts/3): nothing to tail; start with > train.log 2>&1 or | tee train.log"
    untold = replace(
        job, log_files=(LogFile(path="/dev/pts/3", pids=(1,), size_bytes=None, age_s=None, reason=reason),)
    )
    text = shown(replace(frame, derived=replace(frame.derived, job=untold)), (80, 24))
    assert "stdout is a terminal (/dev/pts/3)" in text
    assert "tee train.log" in text


def test_trends_are_told_only_where_they_leave_the_noise() -> None:
    falling = curve_view.trend(curve("loss", [(step, 3.0 - step / 100) for step in range(100)]))
    assert falling is not None
    assert falling.change == pytest.approx(-0.2, abs=0.05)
    noisy = curve_view.trend(curve("loss", [(step, 3.0 + (step * 7919 % 101 - 50) / 50) for step in range(100)]))
    assert noisy is not None
    assert noisy.change == 0
    assert curve_view.trend(curve("loss", [(step, 1.0) for step in range(10)])) is None


def test_arrows_enter_and_escape() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6")
        assert view_of(app).page == "curves"
        assert any("▸ Loss" in row for row in screen_text(app))
        await pilot.press("down", "down")
        assert view_of(app).state(CurvesState).name == "lr"
        assert any("▸ Learning rate" in row for row in screen_text(app))
        await pilot.press("enter")
        assert not any("▸" in row for row in screen_text(app))
        assert any("─ Learning rate ─" in row for row in screen_text(app))
        await pilot.press("escape")
        assert any("▸ Learning rate" in row for row in screen_text(app))
        await pilot.press("end")
        assert view_of(app).state(CurvesState).name == "throughput"
        await pilot.press("home", "up", "left")
        assert view_of(app).state(CurvesState).name == "loss"
        assert app.is_running

    drive(act, frames.healthy())


def test_log_scale_is_kept_for_each_curve() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("L")
        assert view_of(app).state(CurvesState).log_scales == frozenset()
        await pilot.press("6", "L", "down", "1", "6")
        assert view_of(app).state(CurvesState).log_scales == {"loss"}
        await pilot.press("up", "L")
        assert view_of(app).state(CurvesState).log_scales == frozenset()

    drive(act, frames.healthy())


def test_sources_of_one_quantity_take_turns_and_never_mix() -> None:
    log = curve("loss", [(step, 3.0) for step in range(50)])
    board = curve("loss", [(step, 9.0) for step in range(20)], source="/runs/events.out.tfevents.1")

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6")
        assert any("now 3 at step 49" in row for row in screen_text(app))
        await pilot.press("o")
        assert any("now 9 at step 19" in row for row in screen_text(app))
        assert any("tfevents" in row for row in screen_text(app))
        await pilot.press("o")
        assert any("now 3 at step 49" in row for row in screen_text(app))

    drive(act, with_curves(board, log))


def test_one_source_only_is_said() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6", "o")
        assert any("has only one source" in row for row in screen_text(app))

    drive(act, frames.healthy(), size=(160, 50))


def test_a_click_in_the_list_draws_that_curve_large() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6")
        assert await pilot.click("#curve-list", offset=(5, 1 + 2 * 7))
        assert view_of(app).state(CurvesState).name == "lr"
        assert await pilot.click("#curve-list", offset=(5, 0))
        assert view_of(app).state(CurvesState).name == "lr"

    drive(act, frames.healthy())


def test_the_curves_are_copied_as_a_sentence() -> None:
    copied: list[str] = []

    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        app.copy_to_clipboard = copied.append  # type: ignore[assignment, method-assign]
        await pilot.press("6", "y")

    drive(act, frames.healthy())
    assert copied[0].startswith("loss 2.326 at step 12,580, gradient norm 0.4346, learning rate")


def test_keys_are_harmless_where_nothing_is_told() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6", "down", "L", "o", "enter", "escape", "pagedown", "home", "y")
        assert any("No step or loss" in row for row in screen_text(app))

    drive(act, with_curves())


def test_plain_characters_only_with_ascii() -> None:
    async def act(app: HwtopApp, pilot: Pilot[None], feed: FakeFeed) -> None:
        await pilot.press("6")
        rows = screen_text(app)
        assert "".join(rows).isascii()
        assert "?" not in "".join(rows[3:-2])

    drive(act, curve_frames.broken(), options=ScreenOptions(is_ascii=True))
