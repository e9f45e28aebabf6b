from __future__ import annotations

import pytest

from hwtop.collectors.logs.words import Words
from hwtop.job.patterns.match import prefilter_of
from hwtop.job.patterns.registry import builtin


@pytest.mark.parametrize("size", [10, 1000, 50_000])
def test_the_newest_progress_lines_one_hit_each(size: int) -> None:
    lines = [f"step {number}: loss 2.5, 3 it/s" if number % 7 == 0 else "noise" for number in range(size)]
    text = "\n".join(lines).encode()
    starts = [text.rfind(b"\n", 0, at) + 1 for at in Words(prefilter_of(builtin())).progress(text, 30)]
    wanted = [line for line in lines if line != "noise"][-30:]
    assert [text[start:].partition(b"\n")[0].decode() for start in starts] == wanted


def test_flagged_lines_are_found_in_any_case() -> None:
    text = b"a\nb\nCUDA Out Of Memory\nc"
    hits = Words(prefilter_of(builtin())).flagged(text)
    assert hits
    assert all(text.rfind(b"\n", 0, at) == 3 for at in hits)
