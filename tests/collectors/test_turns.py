"""Turns: one thread while nothing blocks, and nothing that blocks holds up the rest."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from hwtop.collectors import turns as turns_module
from hwtop.collectors.turns import Turns


def test_what_is_quick_shares_one_thread() -> None:
    turns, seen, threads = Turns(), list[int](), set[int]()
    for number in range(20):
        turns.add(partial(seen.append, number))
        turns.add(lambda: threads.add(threading.get_ident()))
    turns.run(60.0)
    assert seen == list(range(20))
    assert len(threads) == 1


def test_calls_that_never_return_hold_up_no_other_now_or_later() -> None:
    turns, gate, seen = Turns(), threading.Event(), []
    for call in (gate.wait, lambda: seen.append(1), gate.wait, lambda: seen.append(2), gate.wait, gate.set):
        turns.add(call)
    turns.run(60.0)
    assert gate.is_set(), "the last one was reached while three were stuck"
    gate.clear()
    turns.add(gate.wait)
    turns.run(0.0)
    turns.add(lambda: seen.append(3))
    turns.run(60.0)
    assert seen == [1, 2, 3]
    gate.set()


def test_a_call_that_comes_in_late_is_not_waited_for_again() -> None:
    turns, gate, done = Turns(), threading.Event(), threading.Event()
    turns.add(gate.wait, done)
    turns.run(0.0)
    assert not done.is_set()
    turns.run(60.0)  # nothing was added since: it returns at once
    gate.set()
    assert done.wait(60)


def test_where_no_thread_can_be_started_the_calls_wait_for_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    turns, seen = Turns(), []
    turns.add(lambda: seen.append(1))
    with monkeypatch.context() as patch:
        patch.setattr(turns_module, "in_idle_thread", refuse)
        turns.run(0.05)
    assert seen == []
    turns.add(lambda: seen.append(2))
    turns.run(60.0)
    assert seen == [1, 2]
