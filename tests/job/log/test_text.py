"""What a terminal would show, and who wrote it."""

from __future__ import annotations

import pytest

from hwtop.job.log.parsed import parsed_text
from hwtop.job.log.text import clean, visible, without_launcher


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[32mloss: \x1b[1;31m2.5\x1b[0m", "loss: 2.5"),
        ("\x1b]0;window title\x07step 3", "step 3"),
        ("\r 10%|#  | 1/10\r 20%|## | 2/10", " 20%|## | 2/10"),
        ("windows line\r", "windows line"),
        ("\r\r\r", ""),
        ("1/9 ==\b\b\b\b\b\b2/9", "2/9 =="),
        ("bar that is done\b\b\b\b", "bar that is done"),
        ("a\x00b\x00", "ab"),
        ("cut \x1b[3", "cut 3"),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "rank", "text"),
    [
        ("[rank3]: Traceback", 3, "Traceback"),
        ("[default12]:step 4", 12, "step 4"),
        ("[rank: 2] Received SIGTERM: 15", 2, "Received SIGTERM: 15"),
        ("12: loss 3", 12, "loss 3"),
        ("[1,7]<stdout>:loss 3", 7, "loss 3"),
        ("[rank 5/1 trainer] loss 3", 5, "loss 3"),
        ("[rank0]:[rank0]: twice", 0, "twice"),
        ("(RayTrainWorker pid=41, ip=10.0.0.2) [rank6]:[W1 reducer.cpp:9] hm", 6, "[W1 reducer.cpp:9] hm"),
        ("[2024-01-02 03:04:05,678] [INFO] [x.py:9:log_dist] [Rank 4] step=1", 4, None),
        ("[rank1/8] not a prefix we cut wrongly", 1, "not a prefix we cut wrongly"),
        ("12:30:01 is a time", None, "12:30:01 is a time"),
        ("nothing", None, "nothing"),
    ],
)
def test_rank_prefixes(raw: str, rank: int | None, text: str | None) -> None:
    reported, rest = without_launcher(raw)
    assert reported == rank
    assert text is None or rest == text


def test_logging_prefixes_are_cut_around_the_rank() -> None:
    line = "[2023-04-18 01:46:59,171] [INFO] [logging.py:96:log_dist] [Rank 5] step=10, skipped=1"
    assert (parsed_text(line).rank, parsed_text(line).body) == (5, "step=10, skipped=1")
    assert parsed_text("2024-02-03 04:05:06 - INFO - epoch 3").body == "epoch 3"


def test_nothing_reaches_the_terminal_raw() -> None:
    assert visible("a\x1b[31mb\tc\x7f\u202e") == "a␛[31mb c␡\\u202e"
    assert visible("Größe ━━ 3") == "Größe ━━ 3"
