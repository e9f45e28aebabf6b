"""A question that nobody answers is a hang; a prompt at which somebody works is none."""

from __future__ import annotations

import pytest

from hwtop.job.hang.prompt import prompt_of
from hwtop.model.rank import Rank
from tests.job.hang.standstill import is_standing_still
from tests.job.hang.test_rank_state import dump
from tests.parts import replace
from tests.symptoms.derived_states import still


def at(code: str | None, *above: tuple[str, str]) -> Rank:
    """Still at this line of train.py, or in what it has called."""
    stack = dump(*above, ("main", "train.py"))
    (thread,) = stack.threads
    frames = tuple(replace(frame, code=code) if frame.name == "main" else frame for frame in thread.frames)
    stack = replace(stack, threads=(replace(thread, frames=frames),))
    return still(0, 30.0, phase="other", is_waiting=False, progress=None, step_age_s=None, phase_shares=(), stack=stack)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('answer = input("Overwrite best.pt? [y/N] ")', True),
        ("if input(prompt).lower() != 'y':", True),
        ("password = getpass()", True),
        ("line = sys.stdin.readline()", True),
        ("batch = self.input(batch)", False),
        ("model_input(batch)", False),
        ("event.wait()", False),
        (None, False),
    ],
)
def test_lines_that_ask(code: str | None, expected: bool) -> None:
    asks = at(code)
    assert (prompt_of(asks) is not None) is expected
    assert is_standing_still([asks]) is expected


def test_what_was_asked_above_is_over() -> None:
    assert prompt_of(at("run(input())", ("wait", "threading.py"), ("run", "other.py"))) is None


def test_a_debugger_is_no_question_to_nobody() -> None:
    assert prompt_of(at("input()", ("cmdloop", "cmd.py"), ("interaction", "pdb.py"))) is None


def test_a_moment_is_no_hang() -> None:
    assert prompt_of(replace(at("input()"), same_stack_for_s=5.0, idle_for_s=5.0)) is None
