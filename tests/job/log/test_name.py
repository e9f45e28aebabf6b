from __future__ import annotations

import pytest

from hwtop.job.log.name import is_log_name


@pytest.mark.parametrize(
    "path",
    [
        "/r/train.log",
        "/r/train.log (deleted)",
        "/r/slurm-12_3.out",
        "/r/log.txt.rank1",
        "/r/train.log.2026-01-02",
        "/r/nemo_log_globalrank-3_localrank-1.txt",
        "/r/1/rank.0/stdout",
        "/r/worker_stderr",
        "/r/metrics.jsonl",
        "/r/rank_7",
        "/r/log",
    ],
)
def test_logs(path: str) -> None:
    assert is_log_name(path)


@pytest.mark.parametrize(
    "path",
    [
        "pipe:[1]",
        "/r/model.pt",
        "/r/catalog",
        "/r/requirements.txt",
        "/r/train.log.gz",
        "/r/vocab.txt",
        "/r/x.login",
        "log",
    ],
)
def test_no_logs(path: str) -> None:
    assert not is_log_name(path)
