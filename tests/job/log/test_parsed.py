from __future__ import annotations

import pytest

from hwtop.job.log.parsed import parsed_text
from hwtop.model.reported.log import LogLine
from tests.matching import match


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("2024-01-02 03:04:05,678 - trainer.loop - ERROR - out of range", "error"),
        ("2024-01-02 03:04:05,678 WARNING slow storage", "warning"),
        ("[2024-01-02 03:04:05,678] [INFO] [engine.py:10:step] ready", "info"),
        ("[rank3]: CRITICAL: giving up", "critical"),
        ("ERROR    no such worker                      pool.py:31", "error"),
        ("2024-01-02 03:04:05.678 | DEBUG    | app.io:read:12 - opened", "debug"),
        ("E0102 03:04:05.678901   412 rpc_server.cc:81] call dropped", "error"),
        ("[rank0]:[W1218 05:22:56.626081599 reducer.cpp:1431] Warning: unused", "warning"),
        ("F0102 03:04:05.678901 77 check.cc:9] Check failed: a == b", "critical"),
        ("2024-01-02 03:04:05.678901: E tensorflow/core/framework/op.cc:9] failed", "error"),
        ("node7:88:91 [0] NCCL WARN call to connect returned", "error"),
        ("slurmstepd: error: unable to open step", "error"),
        ("fatal: not a repository", "critical"),
        ('ts=03:04:05 level=warn msg="retrying"', "warning"),
        ('{"level": "ERROR", "message": "lost"}', "error"),
        ("[2024-01-02 03:04:05.678] [net] [error] link lost", "error"),
    ],
)
def test_the_level_by_the_grammar_of_the_logger(text: str, level: str) -> None:
    assert parsed_text(text).level == level


@pytest.mark.parametrize(
    "text",
    [
        "test error: 0.12",
        "Final error is 3",
        "an ERROR in words is no level",
        "step 10 info 3.2",
        "Epoch 3 fatal accidents: 2",
        "WARNINGS are off",
        "",
    ],
)
def test_a_line_without_a_logger_has_no_level(text: str) -> None:
    assert parsed_text(text).level is None


def test_the_parts_of_a_line() -> None:
    line = parsed_text("[rank2]: 2024-01-02 03:04:05 - INFO - step 7")
    assert (line.rank, line.level, line.body) == (2, "info", "step 7")
    assert line.said == "2024-01-02 03:04:05 - INFO - step 7"
    assert line.time_s == 86_400.0 + 3 * 3600 + 4 * 60 + 5
    assert parsed_text("hello").time_s is None


def test_an_event_holds_the_level_of_its_line() -> None:
    text = "[rank1]: E0102 03:04:05.678901 77 alloc.cc:9] CUDA out of memory. Tried to allocate 2.00 GiB."
    (event,) = match([LogLine(path="a.log", line_no=1, text=text, at_s=0.0)])
    assert (event.pattern, event.level, event.rank) == ("cuda-oom", "error", 1)
