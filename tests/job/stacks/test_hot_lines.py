"""The hottest lines of user code."""

from __future__ import annotations

from hwtop.job.stacks.hot_lines import SHOWN_LINES, hot_lines
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame


def at(line: int, code: str | None = None, name: str = "Trainer.step") -> StackFrame:
    return StackFrame(name=name, filename="/home/me/train.py", short_filename="train.py", line=line, code=code)


def test_lines_are_counted_for_themselves_and_shares_are_of_all_samples() -> None:
    collect, compute = at(9, "gc.collect()"), at(5, "y = model(x)")
    samples: list[tuple[Phase, StackFrame | None]] = [("other", collect)] * 2
    samples += [("forward", compute)] * 5
    samples += [("sync", compute), ("startup", None)]
    found = hot_lines(samples)
    assert [(each.line, each.phase, each.samples) for each in found] == [
        (5, "forward", 5),
        (9, "other", 2),
        (5, "sync", 1),
    ]
    assert (found[1].function, found[1].code) == ("step", "gc.collect()")
    assert abs(found[1].share - 2 / 9) < 1e-9


def test_samples_one_after_the_other_are_one_visit() -> None:
    collect, compute = at(9, "gc.collect()"), at(5, "y = model(x)")
    order = (collect, collect, collect, compute, collect, compute, compute)
    found = {each.line: (each.samples, each.visits) for each in hot_lines([("other", frame) for frame in order])}
    assert found == {9: (4, 2), 5: (3, 2)}


def test_no_samples_no_lines_and_never_too_many() -> None:
    assert hot_lines([]) == ()
    assert len(hot_lines([("other", at(line)) for line in range(1, 99)])) == SHOWN_LINES
