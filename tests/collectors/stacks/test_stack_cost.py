from __future__ import annotations

import pytest

from hwtop.collectors.stacks.cost import LookCost


def test_threads_make_a_window_dear_and_a_dump_less_so() -> None:
    cost = LookCost()
    assert cost.cost_s(2, 0) == pytest.approx(0.009, rel=0.1)
    assert cost.cost_s(2, 20) == pytest.approx(0.026, rel=0.1)
    assert cost.cost_s(600, 0) < 0.05
    assert cost.cost_s(600, 20) > 0.3


def test_what_was_measured_scales_all_processes() -> None:
    cost = LookCost()
    cost.learn(10, 0, 3 * cost.cost_s(10, 0))
    assert cost.cost_s(200, 0) == pytest.approx(3 * LookCost().cost_s(200, 0))
    assert cost.cost_s(200, 20) == pytest.approx(3 * LookCost().cost_s(200, 20)), "until a window was measured itself"
    cost.learn(10, 20, LookCost().cost_s(10, 20))
    assert cost.cost_s(200, 20) == pytest.approx(LookCost().cost_s(200, 20))


def test_one_odd_measurement_does_not_count_for_much() -> None:
    cost = LookCost()
    cost.learn(10, 0, cost.cost_s(10, 0))
    cost.learn(10, 0, 5 * cost.cost_s(10, 0))
    assert cost.cost_s(10, 0) < 2 * LookCost().cost_s(10, 0)


def test_a_window_has_as_many_samples_as_its_limit_pays_for() -> None:
    cost = LookCost()
    assert cost.samples_for(2, 0.057, 20) == 20
    few = cost.samples_for(600, 0.057, 20)
    assert 1 <= few < 5
    assert cost.cost_s(600, few) - cost.cost_s(600, 0) <= 0.057
    assert cost.samples_for(100_000, 0.057, 20) == 0
