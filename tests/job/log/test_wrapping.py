from __future__ import annotations

import json

import pytest

from hwtop.job.log.wrapping import unwrapping


def docker(log: str, stream: str = "stdout") -> str:
    return json.dumps({"log": log, "stream": stream, "time": "2026-01-02T03:04:05.123456789Z"})


@pytest.mark.parametrize(
    ("lines", "bare"),
    [
        ([docker("step 1\n"), docker('a <b> "c"\n', "stderr")], ["step 1", 'a <b> "c"']),
        ([docker("begin "), docker("of one\n"), docker("next\n")], [None, "begin of one", "next"]),
        ([docker("out "), docker("err\n", "stderr"), docker("put\n")], [None, "err", "out put"]),
        (["2026-01-02T03:04:05.123456789Z stdout F step 1", "half a line"], ["step 1", "half a line"]),
        (
            ["2026-01-02T03:04:05+01:00 stderr P half ", "2026-01-02T03:04:05+01:00 stderr F a line"],
            [None, "half a line"],
        ),
    ],
)
def test_runtimes(lines: list[str], bare: list[str | None]) -> None:
    unwrap = unwrapping(lines[0])
    assert unwrap is not None
    assert [unwrap(line) for line in lines] == bare


@pytest.mark.parametrize(
    "line",
    ["step 1", '{"log": 1}', '{"step": 3, "loss": 2.5}', '{"log": "no end', "2026-01-02 03:04:05 INFO stdout F", ""],
)
def test_what_is_bare_stays_so(line: str) -> None:
    assert unwrapping(line) is None
