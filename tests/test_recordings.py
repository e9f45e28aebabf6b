"""The whole street on recorded sessions: what the pictures of the README show is what hwtop finds."""

from __future__ import annotations

import pytest

from hwtop.feed.feed import frames
from hwtop.model.frame import Frame
from tests.recording import load, replay


def symptoms(frame: Frame) -> list[str]:
    return [finding.symptom for finding in frame.findings if finding.severity != "info"]


@pytest.mark.parametrize(
    ("name", "expected", "ranks"),
    [
        ("input-bound", "input-bound-cpu", None),
        ("hang", "rank-missing-from-collective", (5,)),
        ("gpu-lost", "gpu-lost", (3,)),
        ("gpu-errors", "xid", (1,)),
        ("oom", "cuda-oom", (1,)),
    ],
)
def test_a_faulty_recording(name: str, expected: str, ranks: tuple[int, ...] | None) -> None:
    last = replay(name)[-1]
    assert symptoms(last)[0] == expected
    assert last.verdict.level in ("warning", "critical")
    if ranks is not None:
        assert last.findings[0].ranks == ranks
    assert last.moment.job is not None
    assert [rank.gpus for rank in last.moment.job.ranks] == [(rank.rank,) for rank in last.moment.job.ranks]


def test_the_healthy_recording_raises_nothing_at_any_moment() -> None:
    for frame in replay("healthy"):
        assert symptoms(frame) == [], f"{frame.watched_s:.0f} s: {frame.findings}"


def test_an_ordinary_hour_raises_nothing_at_any_moment() -> None:
    watched_s = 0.0
    for frame in frames(load("hour")):
        watched_s = frame.watched_s
        assert symptoms(frame) == [], f"{frame.watched_s:.0f} s: {frame.findings}"
    assert watched_s > 3550


def test_the_hang_is_not_called_before_the_job_stands_still() -> None:
    for frame in replay("hang"):
        job = frame.moment.job
        silent = [rank.step_age_s for rank in job.ranks if rank.step_age_s is not None] if job else []
        if silent and min(silent) < 10:
            assert not {"hang", "rank-missing-from-collective"} & set(symptoms(frame))


def test_a_recording_is_replayed_like_a_live_source() -> None:
    snapshots = load("healthy")
    numbers = [frame.number for frame in frames(snapshots)]
    assert numbers == list(range(1, len(snapshots) + 1))
