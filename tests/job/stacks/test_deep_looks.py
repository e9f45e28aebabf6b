from __future__ import annotations

import signal
from typing import Any

import pytest

from hwtop.job.stacks.deep_looks import cannot_pause, faulthandler_signal, no_signal, possible
from hwtop.model.member import JobProcess
from hwtop.model.stack import DeepChoice, DeepKind

PLAIN_PYTHON = 1 << (signal.SIGINT - 1)
"""What every Python catches."""


def catching(*numbers: signal.Signals) -> int:
    return PLAIN_PYTHON | sum(1 << (number - 1) for number in numbers)


REGISTERED = catching(signal.SIGUSR1)
ENABLED = catching(signal.SIGUSR1, signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)


def process(**fields: Any) -> JobProcess:
    known: dict[str, Any] = {
        "pid": 42,
        "ppid": 1,
        "depth": 1,
        "role": "rank",
        "rank": 0,
        "state": "S",
        "cpu_pct": 0.0,
        "rss_bytes": None,
        "thread_count": 2,
        "read_bytes_per_s": None,
        "written_bytes_per_s": None,
        "fd_count": None,
        "wchan": None,
        "threads": {},
        "thread_states": {"S": 2},
        "command": "python -u train.py --lr 0.1",
        "caught_signals": PLAIN_PYTHON,
    }
    return JobProcess(**(known | fields))


def choices(has_pystack: bool = True, **fields: Any) -> dict[DeepKind, DeepChoice]:
    return {choice.kind: choice for choice in possible(process(**fields), has_pystack=has_pystack)}


def test_a_running_rank_can_be_paused_and_not_signalled() -> None:
    found = choices()
    assert list(found) == ["native", "pystack", "faulthandler"]
    assert found["native"].refusal is None and found["pystack"].refusal is None
    assert "pauses all threads of PID 42" in found["native"].what_it_does
    assert "handles neither SIGUSR1 nor SIGUSR2, so the signal would kill it" in str(found["faulthandler"].refusal)
    assert "faulthandler.register(signal.SIGUSR1)" in str(found["faulthandler"].refusal)


def test_without_pystack_the_command_that_brings_it() -> None:
    assert choices(has_pystack=False)["pystack"].refusal == "pystack is not installed: pip install 'hwtop[pystack]'"


@pytest.mark.parametrize(
    ("caught", "label", "sure"),
    [
        (ENABLED, "faulthandler (SIGUSR1)", "the handler should be faulthandler's"),
        (REGISTERED, "faulthandler (SIGUSR1)", "it is unknown whether the handler is faulthandler's"),
        (catching(signal.SIGUSR2), "faulthandler (SIGUSR2)", "it is unknown whether"),
    ],
)
def test_a_signal_is_offered_with_what_is_known_of_its_handler(caught: int, label: str, sure: str) -> None:
    choice = choices(caught_signals=caught)["faulthandler"]
    assert (choice.label, choice.refusal) == (label, None)
    assert sure in choice.what_it_does
    assert "save a checkpoint, requeue the job" in choice.what_it_does


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("python -u -m submitit.core._submit /jobs/1", "submitit"),
        ("/venv/bin/python /venv/bin/torchrun train.py", "torchrun"),
        ("python -m torch.distributed.run train.py", "torch.distributed.run"),
    ],
)
def test_programs_with_a_handler_of_their_own_are_left_alone(command: str, word: str) -> None:
    refusal = choices(caught_signals=ENABLED, command=command)["faulthandler"].refusal
    assert refusal == f"its command line contains {word}, which uses SIGUSR1 itself"


@pytest.mark.parametrize(
    ("state", "threads", "reason"),
    [
        ("S", {"S": 5, "R": 1}, None),
        ("R", {}, None),
        ("T", {"T": 2}, None),
        ("Z", {}, "PID 42 has ended"),
        ("X", {}, "PID 42 has ended"),
        ("t", {"t": 2}, "a debugger is already attached"),
        ("D", {}, "uninterruptible sleep"),
        ("S", {"S": 5, "D": 1}, "uninterruptible sleep"),
    ],
)
def test_what_must_not_be_stopped(state: str, threads: dict[str, int], reason: str | None) -> None:
    found = cannot_pause(42, state, threads)
    assert found is None if reason is None else reason in str(found)
    assert choices(state=state, thread_states=threads)["native"].refusal == found


def test_signals_that_are_not_known_are_not_sent() -> None:
    assert faulthandler_signal(None) is None
    assert no_signal(42, "S", None, "python") == "its signal handlers cannot be read"
    assert no_signal(42, "Z", ENABLED, "python") == "PID 42 has ended"
    assert faulthandler_signal(catching(signal.SIGUSR1, signal.SIGUSR2)) is signal.SIGUSR1
