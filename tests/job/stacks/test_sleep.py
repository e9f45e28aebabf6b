"""One look at a thread that nobody wakes tells where it stands for as long as it sleeps."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.stacks.samples import StackSamples
from tests.derive.readings import STEP, WAIT, dump, process, processes

PID = 110


def slept(*states: tuple[float, str, int | None], look_at_s: float) -> StackSamples:
    """Readings of a process as (time, state, context switches), and one dump of it."""
    samples = StackSamples()
    for at_s, state, switches in states:
        if at_s >= look_at_s > at_s - 1.0:
            samples.add(dump(PID, look_at_s, WAIT, is_active=False))
        counts: dict[str, Any] = {"voluntary_switches": switches, "involuntary_switches": switches and 3}
        samples.sleepers.see(processes(at_s, process(PID, state=state, **counts)))
    return samples


def asleep(until_s: int, state: str = "S") -> list[tuple[float, str, int | None]]:
    return [(float(second), state, 70) for second in range(10, until_s + 1)]


@pytest.mark.parametrize("state", ["S", "D"])
def test_one_look_during_a_sleep_tells_all_of_it(state: str) -> None:
    samples = slept(*asleep(24, state), look_at_s=13.0)
    assert samples.same_stack_for_s(PID, 24.0) == 14.0
    assert samples.phase_for_s(PID) == 11.0, "of the phase only what came after the look is known"


def test_a_sleep_is_known_as_far_as_the_process_was_read() -> None:
    samples = slept(*asleep(24), look_at_s=13.0)
    assert samples.same_stack_for_s(PID, 70.0) == 14.0
    assert samples.same_stack_for_s(PID, 90.0) is None, "nobody has looked for a minute"


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ((25.0, "S", 71), "it was woken and sleeps again"),
        ((25.0, "R", 70), "it runs"),
        ((25.0, "T", 70), "it was stopped, which its state tells"),
        ((25.0, "S", None), "nobody counts"),
    ],
)
def test_a_look_from_before_it_was_woken_says_nothing_of_now(last: tuple[float, str, int | None], why: str) -> None:
    samples = slept(*asleep(24), last, look_at_s=13.0)
    assert samples.same_stack_for_s(PID, 25.0) is None, why
    samples.add(dump(PID, 26.0, WAIT))
    assert samples.same_stack_for_s(PID, 26.0) == 13.0, "from look to look"


@pytest.mark.parametrize("look_at_s", [9.8, 10.2])
def test_a_look_before_the_sleep_or_at_its_edge_does_not_tell_it(look_at_s: float) -> None:
    assert slept(*asleep(24), look_at_s=look_at_s).same_stack_for_s(PID, 24.0) is None


def test_a_newer_look_that_shows_another_place_counts() -> None:
    """py-spy without pausing may show a torn stack, or one of a moment that no reading fell into."""
    samples = slept(*asleep(24), look_at_s=13.0)
    samples.add(dump(PID, 20.0, STEP))
    assert samples.same_stack_for_s(PID, 24.0) == 0.0


def test_only_the_main_thread_is_counted() -> None:
    samples = StackSamples()
    samples.sleepers.see(processes(10.0, process(PID, voluntary_switches=1, involuntary_switches=1)))
    samples.add(dump(PID + 1, 12.0, WAIT))
    samples.sleepers.see(processes(24.0, process(PID, voluntary_switches=1, involuntary_switches=1)))
    assert samples.same_stack_for_s(PID + 1, 24.0) is None
