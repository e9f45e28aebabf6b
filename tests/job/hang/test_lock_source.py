"""Which locks a line holds, told from its source."""

from __future__ import annotations

import pytest

from hwtop.job.hang.lock_source import held_at, plain_names

SOURCE = """\
import threading
a = threading.Lock()
def outer(self, path):
    with a:
        with open(path) as file, self._lock:
            go()
        after()
    end()
def explicit(self):
    a.acquire()
    self.b.acquire(timeout=5)
    work()
    self.b.release()
    more()
async def waits(self):
    async with self.cond:  # a comment
        if self.ready:

            # what for
            await go()
def inner():
    with a:
        def callback():
            call()
        return callback
""".splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE, start=1) if text in line)


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("with a:", ()),  # not yet
        ("with open", ("a",)),
        ("            go()", ("a", "self._lock")),
        ("after()", ("a",)),
        ("end()", ()),
        ("a.acquire()", ()),
        ("self.b.acquire", ("a",)),
        ("work()", ("a", "self.b")),
        ("more()", ("a",)),
        ("await go()", ("self.cond",)),
        ("call()", ()),  # a function of its own, called later
    ],
)
def test_held_at(line: str, held: tuple[str, ...]) -> None:
    assert held_at(SOURCE, line_of(line)) == held


@pytest.mark.parametrize("line", [-1, 0, 10_000])
def test_a_line_that_is_not_there(line: int) -> None:
    assert held_at(SOURCE, line) == ()


def test_only_plain_names_are_locks() -> None:
    assert plain_names("opened)") == []
    assert plain_names("self._lock, open(path) as file, locks[rank], torch.no_grad()") == ["self._lock", "locks[rank]"]
