"""What takes more of the time than it did."""

from __future__ import annotations

from hwtop.job.stacks.growth import grown_shares
from hwtop.model.stack import StackFrame


def at(name: str, line: int) -> StackFrame:
    return StackFrame(name=name, filename="/home/me/train.py", short_filename="train.py", line=line)


def samples(*thirds: tuple[int, int, int]) -> list[tuple[float, StackFrame | None]]:
    """Of each third: how many samples are in `step`, and at two lines of `summary`."""
    frames: list[StackFrame] = []
    for step, first, second in thirds:
        frames += [*[at("step", 3)] * step, *[at("summary", 7)] * first, *[at("summary", 8)] * second]
    return [(float(number), frame) for number, frame in enumerate(frames)]


def test_a_function_that_grows_over_several_lines_is_told_as_one() -> None:
    (most, *_) = grown_shares(samples((60, 20, 20), (40, 30, 30), (20, 40, 40)))
    assert (most.function, most.line, most.before, most.now) == ("summary", 0, 0.4, 0.8)
    assert (most.first_s, most.last_s) == ((0.0, 99.0), (200.0, 299.0))


def test_a_line_that_is_all_that_grows_is_told_itself() -> None:
    (most, *_) = grown_shares(samples((60, 40, 0), (40, 60, 0), (20, 80, 0)))
    assert (most.function, most.line) == ("summary", 7)


def test_nothing_grows_by_chance_or_in_a_few_samples() -> None:
    assert grown_shares(samples((60, 40, 0), (55, 45, 0), (54, 46, 0))) == ()
    assert grown_shares(samples((12, 8, 0), (8, 12, 0), (4, 16, 0))) == ()
    assert grown_shares([]) == ()
