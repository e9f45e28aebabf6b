"""Keys from a real terminal, and a thread that ends when it is told to."""

from __future__ import annotations

import os
import pty
import queue
import threading
import tty
from collections.abc import Iterator

import pytest
from textual import events
from textual.message import Message

from hwtop.ui.terminal.key_reader import WakingEvent, read_keys


class Reader:
    """`read_keys` on a terminal of its own."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.closing = WakingEvent()
        self.messages: queue.Queue[Message] = queue.Queue()
        self.start()

    def start(self) -> None:
        self.thread = threading.Thread(
            target=read_keys, args=(self.slave, self.closing, self.messages.put), daemon=True
        )
        self.thread.start()

    def typed(self, text: str) -> str:
        os.write(self.master, text.encode())
        event = self.messages.get(timeout=60)
        assert isinstance(event, events.Key)
        return event.key

    def end(self) -> None:
        self.closing.set()
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.end()


def test_keys_sequences_and_an_escape_that_nothing_follows(reader: Reader) -> None:
    assert [reader.typed(text) for text in ("a", "\x1b[A", "ü", "\x1b", "q")] == ["a", "up", "ü", "escape", "q"]


def test_it_ends_while_nobody_types_and_can_be_started_again(reader: Reader) -> None:
    assert reader.typed("a") == "a"
    reader.end()
    reader.closing.clear()
    reader.start()
    assert reader.typed("b") == "b"


def test_it_ends_with_the_input(reader: Reader) -> None:
    before, reader.slave = reader.thread, os.open("/dev/null", os.O_RDONLY)
    reader.end()
    reader.closing.clear()
    reader.start()
    reader.thread.join(60)
    assert not reader.thread.is_alive()
    assert before is not reader.thread
