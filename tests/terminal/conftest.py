"""Fixtures of the tests in a real terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from hwtop.demo.catalogue import find
from hwtop.demo.run import DemoJob
from hwtop.demo.scenarios import Scenario
from tests.fakenvml.fixture import FakeNvml
from tests.terminal.tmux import Tmux

Start = Callable[..., DemoJob]
Open = Callable[..., Tmux]


def scenario(name: str, *arguments: str) -> Scenario:
    """A demo scenario with other settings."""
    found = find(name)
    assert found is not None
    return replace(found, arguments=(*found.arguments, *arguments))


LIGHT = scenario("healthy", "--device-ms", "150", "--forward-ms", "5", "--backward-ms", "5", "--decode-ms", "2")
"""A healthy job that leaves the machine to what is tested."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a demo job; its logs are in `tmp_path`/job."""
    with ExitStack() as stack:

        def begin(what: Scenario = LIGHT, rank_count: int = 2) -> DemoJob:
            folder = tmp_path / "job"
            folder.mkdir()
            return stack.enter_context(DemoJob(what, folder, rank_count=rank_count, is_stdlib_forced=True))

        yield begin


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    """Opens a terminal."""
    with ExitStack() as stack:
        yield lambda *size, **options: stack.enter_context(Tmux(tmp_path, *size, **options))


def clock(screen: str) -> str | None:
    """The time of day that the screen shows."""
    found = re.search(r"\b\d\d:\d\d:\d\d\b", screen)
    return found[0] if found else None


def wait_for_ticks(terminal: Tmux, count: int = 2) -> None:
    """The screen lives: its clock moves on so many times."""
    for _ in range(count):
        before = clock(terminal.screen())
        terminal.wait_until(lambda screen: clock(screen) not in (None, before), "clock that moves on")  # noqa: B023


def use_ranks(fake: FakeNvml, pids: dict[int, int]) -> None:
    """Let the fake GPUs list these processes: GPU N that of rank N."""
    Path(fake.env["FAKENVML_PIDS"]).write_text("".join(f"rank{rank} {pid}\n" for rank, pid in pids.items()))
