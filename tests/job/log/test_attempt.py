from __future__ import annotations

from hwtop.job.log.attempt import is_earlier, superseded

RUN = "/logs/none_x1y2"


def test_only_what_was_started_anew_is_superseded() -> None:
    old = [f"{RUN}/attempt_{attempt}/{rank}/stderr.log" for attempt in (0, 9) for rank in (0, 1)]
    new = [f"{RUN}/attempt_10/0/stdout.log", "/logs/other/attempt_3/0/stdout.log", "/logs/attempt_log.txt", "train.log"]
    assert superseded([*old, *new]) == set(old)


def test_earlier_means_of_the_same_run() -> None:
    assert is_earlier(f"{RUN}/attempt_0/1/stderr.log", f"{RUN}/attempt_1/0/stdout.log")
    assert not is_earlier(f"{RUN}/attempt_1/1/stderr.log", f"{RUN}/attempt_1/0/stdout.log")
    assert not is_earlier("/a/attempt_0/1/stderr.log", f"{RUN}/attempt_1/0/stdout.log")
    assert not is_earlier("train.log", f"{RUN}/attempt_1/0/stdout.log")
