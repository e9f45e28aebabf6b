from __future__ import annotations

from types import SimpleNamespace

import pytest

from hwtop.collectors.gpu.nvidia.cost import CallLedger, call_costs, timed


def test_ledgers_of_several_threads_become_one_table() -> None:
    one, other = CallLedger(), CallLedger()
    one.note("nvmlA", 0.001)
    one.note("nvmlA", 0.003)
    other.note("nvmlA", 0.002)
    other.note("nvmlB", 0.010)
    costs = call_costs((one, other))
    assert [(cost.function, cost.calls) for cost in costs] == [("nvmlB", 1), ("nvmlA", 3)]
    assert costs[1].mean_ms == pytest.approx(2.0)
    assert costs[1].max_ms == pytest.approx(3.0)
    assert call_costs(()) == ()


def test_a_call_that_fails_has_its_cost() -> None:
    ledger = CallLedger()
    with pytest.raises(ZeroDivisionError):
        timed(ledger, SimpleNamespace(nvmlA=lambda number: 1 // number), "nvmlA", 0)
    with pytest.raises(AttributeError):
        timed(ledger, SimpleNamespace(), "nvmlMissing")
    assert [(cost.function, cost.calls) for cost in call_costs((ledger,))].count(("nvmlA", 1)) == 1
