"""One curve a quantity, from the rank that tells most."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.derive.logs.curves import CurveBook
from hwtop.derive.logs.log import LogBook
from hwtop.model.reported.log import LogLine, LogReading, Progress


def at(seconds: float, text: str = "") -> LogLine:
    return LogLine(path="a.log", line_no=None, text=text, at_s=seconds)


def test_each_quantity_has_its_curve() -> None:
    book = CurveBook()
    for step in range(3):
        progress = Progress(step=step, loss=1.0 - step, lr=0.1, throughput=9.0, throughput_unit="tokens/s")
        book.take(("a.log", 0), progress, step, at(float(step)))
    assert [(curve.name, curve.unit, len(curve.points)) for curve in book.curves] == [
        ("loss", "", 3),
        ("lr", "", 3),
        ("throughput", "tokens/s", 3),
    ]
    assert book.curves[0].source == "a.log"
    assert book.curves[0].rank == 0


def test_the_rank_that_tells_most_is_the_teller() -> None:
    book = CurveBook()
    for rank in range(64):
        book.take((f"{rank}.log", rank), Progress(step=1, loss=2.0), 1, at(0.0))
    for step in range(2, 40):
        book.take(("63.log", 63), Progress(step=step, loss=2.0 / step), step, at(float(step)))
    assert book.curves[0].rank == 63
    assert len(book.curves[0].points) > 30


def test_two_ranks_that_tell_alike_never_take_turns() -> None:
    book = CurveBook()
    seen = set()
    for step in range(50):
        for rank in (1, 0) if step % 2 else (0, 1):
            book.take((f"{rank}.log", rank), Progress(step=step, loss=2.0), step, at(float(step)))
            seen.add(book.curves[0].rank)
    assert seen == {0}


def test_a_bar_that_is_redrawn_is_one_point() -> None:
    book = CurveBook()
    for at_s in range(5):
        book.take(("a.log", 0), Progress(step=7, loss=2.0), 7, at(float(at_s)))
    assert len(book.curves[0].points) == 1


def test_the_log_book_tells_the_curves_of_its_lines() -> None:
    logs = LogBook()
    texts = ("Epoch 1/2", "9/10 - 1s - 5ms/step - loss: 0.5", "Epoch 2/2", "9/10 - 1s - 5ms/step - loss: 0.25")
    lines = tuple(LogLine(path="a.log", line_no=None, text=text, at_s=1.0, is_past=True) for text in texts)
    logs.advance(LogReading(at_s=1.0, files=(), lines=lines), {}, {})
    loss = next(curve for curve in logs.curves if curve.name == "loss")
    assert [(point.step, point.value, point.is_past) for point in loss.points] == [(9, 0.5, True), (19, 0.25, True)]


def test_step_times_are_measured_where_no_line_tells_them() -> None:
    logs = LogBook()
    for second in range(1, 6):
        lines = tuple(
            LogLine(path="a.log", line_no=None, text=f"step {10 * second + each} loss 1.5", at_s=float(second))
            for each in (0, 5)
        )
        logs.advance(LogReading(at_s=float(second), files=(), lines=lines), {}, {})
    curve = next(curve for curve in logs.curves if curve.name == "step_time_s")
    assert [(point.step, point.value) for point in curve.points] == [(25, 0.1), (35, 0.1), (45, 0.1)]


def past(texts: Sequence[str]) -> LogBook:
    """A log that held these lines when hwtop attached."""
    logs = LogBook()
    lines = tuple(LogLine(path="a.log", line_no=None, text=text, at_s=9.0, is_past=True) for text in texts)
    logs.advance(LogReading(at_s=9.0, files=(), lines=lines), {}, {})
    return logs


def test_the_pace_before_the_attach_is_measured_by_the_times_of_the_lines() -> None:
    logs = past([f"2026-11-23 10:00:{second:02d},500 step {4 * second} loss 1.5" for second in range(1, 50)])
    curve = next(curve for curve in logs.curves if curve.name == "step_time_s")
    assert [point.value for point in curve.points] == [0.25] * 48
    assert curve.points[-1].step == 196


def test_lines_of_one_second_share_it() -> None:
    logs = past([f"2026-11-23 10:00:{step // 16:02d} step {step} loss 1.5" for step in range(1, 161)])
    curve = next(curve for curve in logs.curves if curve.name == "step_time_s")
    assert len(curve.points) > 140
    assert all(abs(point.value - 1 / 16) < 0.005 for point in curve.points)


def test_samples_a_second_are_measured_where_the_counter_counts_samples() -> None:
    logs = LogBook()
    for second in range(6):
        text = f"Train Epoch: 1 [{640 * second}/60000 (1%)]\tLoss: 1.5"
        line = LogLine(path="a.log", line_no=None, text=text, at_s=float(second))
        logs.advance(LogReading(at_s=float(second), files=(), lines=(line,)), {}, {})
    assert [(curve.name, curve.unit) for curve in logs.curves] == [("loss", ""), ("throughput", "samples/s")]
    assert {point.value for point in logs.curves[1].points} == {640.0}


def test_a_running_mean_is_marked() -> None:
    book = CurveBook()
    book.take(("a.log", 0), Progress(step=1, loss=2.0, lr=0.1, means=("loss",)), 1, at(0.0))
    assert [(curve.name, curve.is_mean) for curve in book.curves] == [("loss", True), ("lr", False)]


def test_the_sum_of_an_epoch_stays_out_of_the_losses_of_its_steps() -> None:
    book = CurveBook()
    book.take(("a.log", 0), Progress(step=1, loss=2.0), 1, at(0.0))
    book.take(("a.log", 0), Progress(epoch=1.0, loss=2.5, means=("loss",)), 1, at(0.0))
    book.take(("a.log", 0), Progress(epoch=1.0, loss=2.5), 1, at(0.0))
    assert [point.value for point in book.curves[0].points] == [2.0]
    only_sums = CurveBook()
    for epoch in (1.0, 2.0):
        only_sums.take(("a.log", 0), Progress(epoch=epoch, loss=2.0 / epoch), None, at(0.0))
    assert [point.value for point in only_sums.curves[0].points] == [2.0, 1.0]


def test_losses_on_stdout_stand_at_the_steps_of_the_bar_on_stderr() -> None:
    logs = LogBook()
    for step in (10, 20):
        bar = LogLine(path="err", line_no=None, text=f" 10%|#  | {step}/100 [00:10<01:30,  1.00s/it]", at_s=float(step))
        loss = LogLine(path="out", line_no=None, text=f"{{'loss': {5 / step}, 'epoch': 0.{step}}}", at_s=float(step))
        reading = LogReading(at_s=float(step), files=(), lines=(bar, loss))
        logs.advance(reading, {"err": (0,), "out": (0,)}, {})
    curve = next(curve for curve in logs.curves if curve.name == "loss")
    assert [(point.step, point.value) for point in curve.points] == [(10, 0.5), (20, 0.25)]


def test_times_that_turn_out_to_be_those_since_the_start_are_taken_back() -> None:
    logs = LogBook()
    texts = [f"itération {step} perte {3 - step / 1000:.3f} temps {step * 0.01:.2f}" for step in range(20, 220, 20)]
    lines = tuple(LogLine(path="a.log", line_no=None, text=text, at_s=1.0, is_past=True) for text in texts)
    logs.advance(LogReading(at_s=1.0, files=(), lines=lines), {}, {})
    times = next(curve for curve in logs.curves if curve.name == "step_time_s")
    assert {round(point.value, 6) for point in times.points} == {0.01}


def test_a_loss_has_the_other_whole_numbers_of_its_line() -> None:
    book = CurveBook()
    text = "krok 40: strata 0.5, trafnych 61.2%, poziom 3, 12 it/s"
    book.take(("a.log", 0), Progress(step=40, loss=0.5, lr=0.1), 40, at(1.0, text))
    labels = {curve.name: curve.points[0].labels for curve in book.curves}
    assert labels == {"loss": ("poziom 3",), "lr": ()}
