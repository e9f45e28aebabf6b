"""The whole street on recorded sessions: what the pictures of the README show is what hwtop finds."""

from __future__ import annotations

import re

import pytest

from hwtop.feed.feed import frames
from hwtop.model.frame import Frame
from tests import findings_of
from tests.recording import load, replay


def symptoms(frame: Frame) -> list[str]:
    return [finding.symptom for finding in frame.findings if finding.severity != "info"]


@pytest.mark.slow
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
    for finding in last.findings:
        shares = re.findall(r"\d+ ?%", finding.title)
        assert set(shares) <= set(re.findall(r"\d+ ?%", " ".join(finding.evidence))), finding
    assert last.derived.job is not None
    assert [rank.gpus for rank in last.derived.job.ranks] == [(rank.rank,) for rank in last.derived.job.ranks]


@pytest.mark.slow
def test_the_healthy_recording_raises_nothing_at_any_moment() -> None:
    for frame in replay("healthy"):
        assert symptoms(frame) == [], f"{frame.watched_s:.0f} s: {frame.findings}"


@pytest.mark.slow
@pytest.mark.timeout(600)  # an hour is replayed in 15 s where nobody else works
@pytest.mark.parametrize("name", findings_of.NAMES)
def test_a_recording_gives_the_findings_that_were_written_down(name: str) -> None:
    assert findings_of.changes(name) == findings_of.stored(name)


def test_an_ordinary_hour_raises_nothing_at_any_moment() -> None:
    stored = findings_of.stored("hour")
    assert stored[-1][0] > 1750  # type: ignore[operator]
    for number, state in stored:
        severities = [finding[1] for finding in state["findings"]]  # type: ignore[index]
        assert set(severities) <= {"info"}, f"frame {number}: {state}"


def test_the_hang_is_not_called_before_the_job_stands_still() -> None:
    for frame in replay("hang"):
        job = frame.derived.job
        silent = [rank.progress.step_age_s for rank in job.ranks if rank.progress.step_age_s is not None] if job else []
        if silent and min(silent) < 10:
            assert not {"hang", "rank-missing-from-collective"} & set(symptoms(frame))


@pytest.mark.slow
def test_a_recording_is_replayed_like_a_live_source() -> None:
    snapshots = load("healthy")
    numbers = [frame.number for frame in frames(snapshots)]
    assert numbers == list(range(1, len(snapshots) + 1))
