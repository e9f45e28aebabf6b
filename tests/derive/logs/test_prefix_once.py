from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import pytest

from hwtop.derive.logs.log import LogBook
from hwtop.job.log import parsed, text
from hwtop.job.log.block import block_of
from hwtop.job.patterns.match import Matcher
from hwtop.ui.panels.logs.view import owner
from tests.derive.readings import log_lines, logs

LINES = (
    "[rank1]: Traceback (most recent call last):",
    '[rank1]:   File "/a/train.py", line 3, in step',
    "[rank1]: ValueError: no",
    "2024-01-02 03:04:05,678 - INFO - [rank0]: step 10 loss nan",
    "[rank0]: step 11 loss 2.5 lr 0.1",
    "| epoch | loss |",
    "| 3     | 0.5  |",
    "[rank0]: grad_norm: inf step: 12",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "nothing of note",
)
Found = TypeVar("Found")


def counted(times: Counter[str], work: Callable[[str], Found]) -> Callable[[str], Found]:
    def count(text: str) -> Found:
        times[text] += 1
        return work(text)

    return count


@pytest.fixture
def launchers(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    times: Counter[str] = Counter()
    monkeypatch.setattr(parsed, "without_launcher", counted(times, text.without_launcher))
    return times


@pytest.fixture
def loggers(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    times: Counter[str] = Counter()
    monkeypatch.setattr(parsed, "without_logger", counted(times, text.without_logger))
    return times


def test_the_prefix_of_each_line_is_parsed_once_from_the_reading_to_the_screen(
    launchers: Counter[str], loggers: Counter[str]
) -> None:
    book = LogBook()
    book.advance(logs(10.0, *log_lines("/a.log", 10.0, *LINES)), {"/a.log": (0, 1)}, {})
    assert [owner(line, {}) for line in book.lines] == [1, 1, 1, 0, 0, None, None, 0, None, None]
    assert launchers == Counter(LINES)
    assert max(loggers.values()) == 1
    assert {event.pattern for event in book.events} >= {"rank-crash", "loss-nan", "cuda-oom"}


def test_a_scan_parses_only_the_lines_that_are_looked_at(launchers: Counter[str]) -> None:
    healthy = "".join(f"[rank0]: step {n} loss 2.5\n" for n in range(1000))
    Matcher(repeat_limit=None).match_block(block_of("/a.log", 1, f"{healthy}{LINES[-2]}\n{healthy}".encode()))
    assert launchers == Counter({LINES[-2]: 1})
