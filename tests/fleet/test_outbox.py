from __future__ import annotations

import os
import threading

from msgspec.structs import replace

from hwtop.fleet import wire
from hwtop.fleet.outbox import Outbox
from tests.fleet.nodes import healthy


def reported(number: int) -> wire.Report:
    return wire.Report(report=replace(healthy()[0], number=number))


def test_a_slow_reader_gets_the_newest_report_and_nothing_queues() -> None:
    may_write, began, written = threading.Event(), threading.Event(), bytearray()

    def write(data: bytes) -> None:
        began.set()
        may_write.wait(10)
        written.extend(data)

    outbox = Outbox(write)
    outbox.put(reported(1))
    assert began.wait(10)
    for number in range(2, 1000):
        outbox.put(reported(number))
        outbox.put(wire.Pong(sent_at_s=float(number), time_s=0.0))
    may_write.set()
    outbox.close(10)
    messages = list(wire.Unpacker().take(bytes(written)))
    assert [each.report.number for each in messages if isinstance(each, wire.Report)] == [1, 999]
    pongs = [each.sent_at_s for each in messages if isinstance(each, wire.Pong)]
    assert pongs == [float(number) for number in range(984, 1000)]


def test_a_full_pipe_holds_nobody_up_and_its_end_is_noticed() -> None:
    source, sink = os.pipe()
    outbox = Outbox(lambda data: (os.write(sink, data * 50), None)[1])
    for number in range(200):
        outbox.put(reported(number))  # would wait for ever, if it waited
    assert not outbox.is_gone.is_set()
    os.close(source)
    outbox.put(reported(200))
    assert outbox.is_gone.wait(10)
    os.close(sink)
