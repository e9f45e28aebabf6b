"""Plain search: without Hyperscan all answers are the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hwtop.job.log.block import LogBlock
from hwtop.job.patterns.match import Matcher, prefilter_of
from hwtop.job.patterns.prefilter import search_kind
from hwtop.job.patterns.registry import builtin
from hwtop.model.reported.log import LogEvent
from tests.job.test_prefilter import block_hyperscan

TESTS = Path(__file__).parents[1]
SCAN = "import sys; sys.modules['hyperscan'] = None; from hwtop.cli import main; main(sys.argv[1:])"


def wordings() -> bytes:
    """The source of the tests of the patterns: every wording of a fault, and every healthy one, that they hold; and real logs."""
    sources = [*sorted((TESTS / "job").glob("test_*.py")), *sorted((TESTS / "data" / "logs").glob("*.log"))]
    return b"\n".join(path.read_bytes() for path in sources)


def as_bars(data: bytes) -> bytes:
    """With lines of many states each."""
    return data.replace(b"\n", b"\r").replace(b"def", b"\n")


def said(data: bytes) -> tuple[list[LogEvent], set[tuple[int, int]]]:
    """The events, and in which line, or state of a bar, which literal was met."""
    events = Matcher(repeat_limit=None).match_block(LogBlock(path="a.log", line_no=1, data=data))
    states = data.replace(b"\r", b"\n")
    return events, {(states.rfind(b"\n", 0, end - 1), number) for end, number in prefilter_of(builtin()).hits(data)}


@pytest.mark.parametrize("change", [bytes, bytes.upper, as_bars])
def test_without_hyperscan_the_answers_are_the_same(
    change: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = change(wordings())
    assert search_kind().__name__ == "HyperscanSearch"
    here = said(data)
    assert len(here[0]) > 200
    block_hyperscan(monkeypatch)
    assert search_kind().__name__ == "PlainSearch"
    assert said(data) == here


@pytest.mark.slow
def test_scan_says_the_same_without_hyperscan() -> None:
    log = str(TESTS / "data" / "logs" / "torchrun_oom.log")

    def scan(*command: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, *command, "scan", log], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    with_it = scan("-m", "hwtop")
    assert "out of memory" in with_it[1]
    assert scan("-c", SCAN) == with_it
