"""rendezvous-stuck."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.hang import Rendezvous
from hwtop.symptoms.hang.rendezvous import check_rendezvous
from tests.symptoms.derived_states import constant, job, rank


def meeting(**fields: Any) -> Rendezvous:
    known: dict[str, Any] = {
        "waiting_s": 20.0,
        "watched_s": 20.0,
        "age_s": 45.0,
        "ranks": (0, 1),
        "expected": 4,
        "here": 2,
        "address": "node1:29500",
    }
    return Rendezvous(**(known | fields))


def see(**fields: Any) -> Any:
    ranks = [rank(n, phase="rendezvous", state="starting") for n in range(2)]
    return check_rendezvous(constant(job(*ranks, rendezvous=meeting(**fields))))


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({"waiting_s": 14.0}, None),
        ({"waiting_s": 15.0}, "warning"),
        ({"waiting_s": 15.0, "age_s": 29.0}, None),  # the others may just be a little slower
        ({"waiting_s": 15.0, "age_s": None}, "warning"),
        ({"waiting_s": 59.0, "expected": 2}, None),  # all are here
        ({"waiting_s": 60.0, "expected": 2}, "warning"),
        ({"waiting_s": 59.0, "expected": None}, None),
        ({"waiting_s": 120.0}, "critical"),
    ],
)
def test_how_long_it_must_last(fields: dict[str, Any], severity: str | None) -> None:
    seen = see(**fields)
    assert (None if seen is None else seen.severity) == severity


def test_who_waits_for_whom() -> None:
    seen = see()
    assert seen.title == "Ranks 0-1 wait for ranks 2-3 in the rendezvous at node1:29500 for 20 s"
    assert seen.ranks == (0, 1)
    assert "WORLD_SIZE is 4, 2 of them are here; ranks 2-3 are not on this machine" in seen.evidence
    assert seen.next_steps[0].startswith("nc -vz node1 29500")


def test_what_was_watched_and_what_the_kernel_tells_are_told_apart() -> None:
    assert see(watched_s=6.0, waiting_s=75.0).evidence[:2] == (
        "every look for 6 s showed the rendezvous, and nothing else",
        "no main thread has run for 75 s (the kernel, also for the time before hwtop looked)",
    )


def test_a_launcher_that_waits_for_nodes() -> None:
    launcher = meeting(ranks=(), launcher_pid=900, expected=2, here=1)
    seen = check_rendezvous(constant(job(rendezvous=launcher)))
    assert seen is not None
    assert seen.title == "torchrun waits for 1 of 2 nodes in the rendezvous at node1:29500 for 20 s"
    assert any("no rank has been started" in line for line in seen.evidence)


def test_nothing_without_a_rendezvous() -> None:
    assert check_rendezvous(constant(job(rank(0)))) is None
