"""What is decided stays put: the top finding of a recorded job does not go back and forth."""

from __future__ import annotations

import pytest

from tests import screens

_WITHIN_S = 60.0
_RECORDINGS = ("gpu-errors", "hang", "input-bound", "oom")
"""Those that the screens are drawn from, so that they are replayed anyway."""


def flips(tops: list[tuple[float, str]]) -> int:
    """How often a symptom is on top again less than a minute after another one took its place."""
    left: dict[str, float] = {}
    before, found = "", 0
    for at_s, top in tops:
        if top != before:
            found += bool(top and at_s - left.get(top, -_WITHIN_S) < _WITHIN_S)
            left[before], before = at_s, top
    return found


def test_flips_are_counted() -> None:
    assert flips([(0, ""), (1, "a"), (2, "a"), (3, "b"), (4, "a"), (5, "b")]) == 2
    assert flips([(0, ""), (1, "a"), (2, "b"), (90, "a")]) == 0, "another time"
    assert flips([(0, "a"), (1, ""), (2, "a")]) == 1, "it vanishes and is back"


@pytest.mark.slow
@pytest.mark.parametrize("name", _RECORDINGS)
def test_the_top_finding_of_a_recording_flips_at_most_once_within_a_minute(name: str) -> None:
    story = screens.reported(name)

    assert flips([(frame.watched_s, next((each.symptom for each in frame.findings), "")) for frame in story]) <= 1
