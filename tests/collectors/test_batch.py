from __future__ import annotations

import threading
import time

import pytest

from hwtop.collectors import abandon
from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.batch import Batch


def test_a_key_that_blocks_holds_up_no_other_and_is_not_tried_again() -> None:
    gate, seen = threading.Event(), []

    def work(key: int) -> None:
        seen.append(key)
        if key == 2:
            gate.wait(30)

    batch = Batch("test", work, time.monotonic)
    late = batch.run([1, 2, 3, 4], 5.0)
    assert seen == [1, 2, 3, 4]
    assert list(late) == [2]
    assert late[2].startswith("not answering for")
    assert list(batch.run([1, 2, 3], 5.0)) == [2]
    assert seen == [1, 2, 3, 4, 1, 3]
    gate.set()
    end_s = time.monotonic() + 60
    while batch.run([2], 5.0):
        assert time.monotonic() < end_s
    assert seen[-1] == 2


def test_the_deadline_holds_when_every_key_blocks() -> None:
    gate = threading.Event()

    def work(key: int) -> None:
        gate.wait(30)

    batch = Batch("test", work, time.monotonic)
    late = batch.run(range(50), 0.2)
    gate.set()
    assert set(late) == set(range(50))
    assert "not read yet: others took too long" in late.values()


def test_a_key_that_fails_is_a_reason_and_the_others_go_on() -> None:
    seen = []

    def work(key: int) -> None:
        if key == 2:
            raise RecursionError("maximum depth")
        seen.append(key)

    batch = Batch("test", work, time.monotonic)
    for _ in range(2):
        assert batch.run([1, 2, 3], 5.0) == {2: "RecursionError: maximum depth"}
    assert seen == [1, 3, 1, 3]


def test_where_no_thread_can_be_started_the_next_call_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    call = Abandonable("test", lambda: 7, time.monotonic)
    with monkeypatch.context() as patch:
        patch.setattr(abandon, "in_idle_thread", refuse)
        with pytest.raises(RuntimeError):
            call.poll(1.0)
    assert call.poll(30.0) == 7
