"""Tracebacks: in every form, each becomes one event that says what was raised, and where."""

from __future__ import annotations

import pytest

from hwtop.job.patterns.match import Matcher
from hwtop.model.reported.log import LogEvent, LogLine
from tests.matching import match


def lines(text: str) -> list[LogLine]:
    return [
        LogLine(path="a.log", line_no=number, text=one, at_s=0.0)
        for number, one in enumerate(text.strip("\n").split("\n"), start=1)
    ]


def crashes(text: str) -> list[LogEvent]:
    return [event for event in match(lines(text)) if event.pattern == "rank-crash"]


CHAINED = """
Traceback (most recent call last):
  File "/job/data.py", line 8, in load
    return table[key]
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/job/train.py", line 3, in main
    load("x")
ValueError: no such sample
"""


def test_of_chained_exceptions_the_first_is_the_cause() -> None:
    first, last = crashes(CHAINED)
    assert (first.role, first.groups["exception"], first.groups["at"]) == ("root", "KeyError", "/job/data.py:8 in load")
    assert (last.role, last.groups["after"]) == ("confirmation", "KeyError")
    assert last.lines == 4
    assert "raised while handling KeyError" in last.explanation


def test_a_prefix_whose_time_goes_on() -> None:
    (event,) = crashes(
        "ERROR 03-23 21:43:38 [engine.py:448] Traceback (most recent call last):\n"
        'ERROR 03-23 21:43:38 [engine.py:448]   File "/job/engine.py", line 12, in run\n'
        "ERROR 03-23 21:43:39 [engine.py:451]     step()\n"
        "ERROR 03-23 21:43:39 [engine.py:451] AssertionError: empty batch\n"
    )
    assert (event.groups["exception"], event.groups["at"]) == ("AssertionError", "/job/engine.py:12 in run")


def test_an_exception_group_tells_what_was_in_it() -> None:
    outer, inner = crashes(
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/job/train.py", line 5, in <module>\n'
        "  | ExceptionGroup: workers failed (1 sub-exception)\n"
        "  +-+---------------- 1 ----------------\n"
        "    | Traceback (most recent call last):\n"
        '    |   File "/job/work.py", line 2, in work\n'
        "    | TypeError: no batch\n"
        "    +------------------------------------\n"
    )
    assert outer.role == "confirmation"
    assert (inner.role, inner.groups["exception"], inner.groups["at"]) == (
        "root",
        "TypeError",
        "/job/work.py:2 in work",
    )


def test_ray_repeats_what_its_worker_raised() -> None:
    reported, raised = crashes(
        "Traceback (most recent call last):\n"
        '  File "/job/main.py", line 3, in <module>\n'
        "    ray.get(train.remote())\n"
        "ray.exceptions.RayTaskError(ValueError): ray::train() (pid=12, ip=10.0.0.1)\n"
        '  File "/job/train.py", line 9, in train\n'
        "ValueError: bad shape\n"
    )
    assert (reported.role, reported.groups["inner"]) == ("confirmation", "ValueError")
    assert (raised.role, raised.groups["at"]) == ("root", "/job/train.py:9 in train")


def test_rich_draws_a_box_around_it() -> None:
    (event,) = crashes(
        "╭───────────── Traceback (most recent call last) ─────────────╮\n"
        "│ /job/train.py:873 in <module>                               │\n"
        "│ ❱ 873 │   train(args)                                       │\n"
        "╰─────────────────────────────────────────────────────────────╯\n"
        "RuntimeError: shapes differ\n"
    )
    assert (event.groups["at"], event.groups["message"]) == ("/job/train.py:873 in <module>", "shapes differ")


def test_ipython_puts_the_name_before_the_header() -> None:
    (event,) = crashes(
        "RuntimeError                              Traceback (most recent call last)\n"
        "Cell In[3], line 8\n"
        "      1 # load\n"
        "----> 8 model(batch)\n"
        "\n"
        "RuntimeError: shapes differ\n"
    )
    assert event.groups["message"] == "shapes differ"


def test_the_start_may_be_missing() -> None:
    (event,) = crashes('  File "/job/train.py", line 3, in main\n    step()\nIndexError: list index out of range\n')
    assert (event.severity, event.groups["at"]) == ("critical", "/job/train.py:3 in main")
    (alone,) = crashes("[rank2]: IndexError: list index out of range")
    assert (alone.severity, alone.rank) == ("warning", 2)


def test_a_pattern_that_explains_the_exception_gets_its_place() -> None:
    events = match(
        lines(
            "Traceback (most recent call last):\n"
            '  File "/job/train.py", line 3, in main\n'
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB."
        )
    )
    assert [(event.pattern, event.groups["at"], event.lines) for event in events] == [
        ("cuda-oom", "/job/train.py:3 in main", 3)
    ]


GLOO = "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] "


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("Connection closed by peer [127.0.0.1]:14739. This is typically caused by a remote worker", "nccl-error"),
        ("Read error [127.0.0.1]:32450: Connection reset by peer. This is typically caused by a", "rank-crash"),
        ("writev [127.0.0.1]:32450: Broken pipe", "rank-crash"),
    ],
)
def test_who_only_felt_that_a_peer_died_is_no_root(words: str, reported: str) -> None:
    """Which of these texts a rank prints when another one is killed is a matter of microseconds."""
    frame = '[rank0]:   File "/lib/torch/autograd/graph.py", line 979, in _engine_run_backward\n'
    (event,) = match(lines("[rank0]: Traceback (most recent call last):\n" + frame + GLOO + words))
    assert (event.pattern, event.role, event.rank) == (reported, "cascade", 0)
    assert event.explanation.endswith(("Another rank failed or exited; find the first error there.", "has exited."))


@pytest.mark.parametrize(
    "text",
    [
        'Exception ignored in: <function Pool.__del__ at 0x7f>\nTraceback (most recent call last):\n  File "pool.py", line 2, in __del__\nAttributeError: _x\n',
        "--- Logging error ---\nTraceback (most recent call last):\n  File \"logging.py\", line 2, in emit\nOSError: [Errno 28] No space left on device\n",
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyboardInterrupt\n',
        '  File "train.py", line 3, in <module>\n    warnings.warn(x)\ndone\n',
        "error: 0.01 exception: none",
    ],
)  # fmt: skip
def test_what_ends_no_program(text: str) -> None:
    assert [event for event in match(lines(text)) if event.severity != "info"] == []


def test_a_header_alone_is_given_up() -> None:
    matcher = Matcher()
    matcher.match(lines("[rank0]: Traceback (most recent call last):"))
    filler = [LogLine(path="a.log", line_no=None, text=f"step {number}", at_s=0.0) for number in range(500)]
    assert matcher.match(filler) == []
    assert not any(assembler.is_open for assembler in matcher._assemblers)


def test_what_fails_below_the_loading_of_a_checkpoint_concerns_the_checkpoint() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "/job/train.py", line 9, in <module>\n'
        "    trainer.load_checkpoint(path)\n"
        '  File "/job/trainer.py", line 40, in load_checkpoint\n'
        "    self.epoch = state['epochs']\n"
        "KeyError: 'epochs'\n"
    )
    (event,) = match(lines(text))
    assert (event.pattern, event.groups["at"]) == ("checkpoint-error", "/job/trainer.py:40 in load_checkpoint")
    (other,) = match(lines(text.replace("load_checkpoint", "checkpoint_forward")))
    assert other.pattern == "rank-crash"
