"""When a rank saved or compiled, from looks at it."""

from __future__ import annotations

import pytest

from hwtop.job.stacks.intervals import PhaseIntervals, recurrence
from hwtop.model.rank_stack import Phase, PhaseInterval


def spells_of(*looks: tuple[float, Phase]) -> tuple[PhaseInterval, ...]:
    intervals = PhaseIntervals()
    for at_s, phase in looks:
        intervals.add(at_s, phase)
    return intervals.all()


def test_a_spell_lasts_from_its_first_look_to_its_last() -> None:
    (interval,) = spells_of((1.0, "forward"), (2.0, "checkpoint"), (3.5, "checkpoint"), (4.0, "data"))
    assert (interval.phase, interval.from_s, interval.to_s, interval.looks) == ("checkpoint", 2.0, 3.5, 2)
    assert (interval.not_before_s, interval.over_by_s, interval.looks_before) == (1.0, 4.0, 1)


def test_one_that_goes_on_has_no_end_and_other_phases_are_not_kept() -> None:
    (interval,) = spells_of((1.0, "backward"), (2.0, "optimizer"), (3.0, "compile"))
    assert (interval.phase, interval.over_by_s) == ("compile", None)


def test_looks_that_come_late_are_put_in_their_place() -> None:
    found = spells_of((1.0, "forward"), (4.0, "forward"), (2.0, "checkpoint"), (3.0, "checkpoint"), (20.0, "forward"))
    assert [(interval.from_s, interval.to_s, interval.over_by_s) for interval in found] == [(2.0, 3.0, 4.0)]


def test_saving_right_after_compiling_is_two_spells() -> None:
    found = spells_of((1.0, "compile"), (2.0, "checkpoint"), (3.0, "compile"))
    assert [(interval.phase, interval.over_by_s) for interval in found] == [
        ("compile", 2.0),
        ("checkpoint", 3.0),
        ("compile", None),
    ]


def test_the_share_is_of_whole_periods() -> None:
    looks: list[tuple[float, Phase]] = [
        (second, "checkpoint" if second % 10 < 3 else "forward") for second in map(float, range(5, 95))
    ]
    found = recurrence(spells_of(*looks))
    assert found is not None
    assert found.share == pytest.approx(0.3)
    assert (found.periods, found.seconds, found.looks) == (8, 80.0, 80)


def test_one_spell_does_not_recur() -> None:
    assert recurrence(spells_of((1.0, "forward"), (2.0, "compile"))) is None
    assert recurrence(()) is None
    once = recurrence(spells_of((1.0, "compile"), (2.0, "forward"), (3.0, "compile"), (4.0, "forward")))
    assert once is not None
    assert (once.periods, once.seconds, once.share) == (1, 2.0, 0.5)


def test_what_is_remembered_is_bounded() -> None:
    looks: list[tuple[float, Phase]] = [(float(k), "compile" if k % 2 else "data") for k in range(5000)]
    assert len(spells_of(*looks)) <= 64
