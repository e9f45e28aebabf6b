"""The numbers of log events in words, and the advice that follows from them."""

from __future__ import annotations

import pytest

from hwtop.model.reported.log import LogEvent, LogLine
from hwtop.symptoms.log_evidence import ranks_behind, sentences, steps
from tests.matching import match


def events_of(*texts: str, pattern: str) -> list[LogEvent]:
    found = match(LogLine(path="a.log", line_no=number, text=text, at_s=0.0) for number, text in enumerate(texts, 1))
    return [event for event in found if event.pattern == pattern]


def oom(tried: str, free: str, process: str, allocated: str, reserved: str) -> str:
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 3 has a total capacity of 79.15 GiB of"
        f" which {free} is free. Including non-PyTorch memory, this process has {process} memory in use. Of the allocated"
        f" memory {allocated} is allocated by PyTorch, and {reserved} is reserved by PyTorch but unallocated."
    )


FRAGMENTED = oom("2.00 GiB", "0.50 GiB", "78.60 GiB", "66.25 GiB", "9.25 GiB")
SHARED = oom("2.00 GiB", "0.50 GiB", "38.60 GiB", "36.25 GiB", "0.25 GiB")
TOO_BIG = oom("312.00 GiB", "70.50 GiB", "8.60 GiB", "7.25 GiB", "0.25 GiB")
FULL = oom("2.00 GiB", "0.50 GiB", "78.60 GiB", "76.25 GiB", "0.25 GiB")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (FRAGMENTED, "expandable_segments"),
        (SHARED, "other processes"),
        (TOO_BIG, "more than the whole GPU"),
        (FULL, None),
    ],
)
def test_the_advice_follows_from_the_six_numbers(text: str, advice: str | None) -> None:
    reported = steps(events_of(text, pattern="cuda-oom"))
    assert len(reported) == (advice is not None)
    assert advice is None or advice in reported[0]


def test_the_six_numbers_in_words() -> None:
    (reported,) = sentences(events_of(FRAGMENTED, pattern="cuda-oom"))
    assert reported == (
        "2.00 GiB asked for on GPU 3, 0.50 GiB of 79.15 GiB free, 78.60 GiB held by this process, 66.25 GiB of it in tensors,"
        " 9.25 GiB reserved by PyTorch but unallocated"
    )


def test_the_older_wording_has_the_same_numbers() -> None:
    text = (
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.71 GiB already"
        " allocated; 10.56 MiB free; 9.75 GiB reserved in total by PyTorch)"
    )
    (reported,) = sentences(events_of(text, pattern="cuda-oom"))
    assert reported.startswith("20.00 MiB asked for on GPU 0, 10.56 MiB of 10.76 GiB free, 9.71 GiB of it in tensors")


def test_a_message_broken_in_two() -> None:
    first, _, second = FRAGMENTED.partition(" GPU 3")
    (reported,) = sentences(events_of(first, "GPU 3" + second, pattern="cuda-oom"))
    assert "0.50 GiB of 79.15 GiB free" in reported


WATCHDOG = "[rank{rank}]:[E1 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception (either an error or timeout) detected by watchdog at work: {seq}, last enqueued NCCL work: {enqueued}, last completed NCCL work: {done}."


def test_who_enqueued_least_keeps_the_others_waiting() -> None:
    events = events_of(
        "[rank0]:[E1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4487, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600013 milliseconds before timing out.",
        WATCHDOG.format(rank=0, seq=4487, enqueued=4489, done=4486),
        WATCHDOG.format(rank=1, seq=4487, enqueued=4489, done=4486),
        WATCHDOG.format(rank=2, seq=4487, enqueued=4486, done=4486),
        pattern="nccl-timeout",
    )
    assert ranks_behind(events) == (2,)
    assert sentences(events) == (
        "ALLREDUCE number 4487 waited 10 min of 10 min allowed",
        "rank 2 enqueued 4486 collectives, others 4489: they wait for it",
    )


def test_nobody_is_behind_where_all_have_enqueued_the_same() -> None:
    texts = [WATCHDOG.format(rank=rank, seq=7, enqueued=9, done=6) for rank in range(3)]
    assert ranks_behind(events_of(*texts, pattern="nccl-timeout")) == ()


def test_the_victim_and_its_limit() -> None:
    events = events_of(
        "memory: usage 8388608kB, limit 8388608kB, failcnt 731",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/job_7,task_memcg=/job_7,task=python,pid=42,uid=0",
        "Memory cgroup out of memory: Killed process 42 (python) total-vm:29359992kB, anon-rss:8282608kB, file-rss:0kB",
        pattern="host-oom-kill",
    )
    assert sentences(events) == ("killed: PID 42 (python), 7.9 GiB resident; limit of /job_7: 8.0 GiB",)


def test_the_first_of_a_table_of_failures() -> None:
    events = events_of(
        "Root Cause (first observed failure):",
        "  host      : node2",
        "  rank      : 9 (local_rank: 1)",
        "  exitcode  : -9 (pid: 202)",
        "  error_file: /tmp/error.json",
        "  traceback : Signal 9 (SIGKILL) received by PID 202",
        pattern="rank-crash",
    )
    assert sentences(events) == (
        "first to fail: rank 9 on node2, exit code -9",
        "error file of rank 9: /tmp/error.json",
    )


def test_where_it_was_raised() -> None:
    events = events_of(
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 3, in main',
        "KeyError: 'x'",
        pattern="rank-crash",
    )
    assert sentences(events) == ("raised at /job/train.py:3 in main",)
