"""What is learned of jobs: kept small, whole, for the person's own eyes, and never in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hwtop.model.baseline import FORMAT, Baseline, JobIdentity, Level
from hwtop.state import learned


def run(time_s: float, format_: int = FORMAT) -> Baseline:
    level = Level(median=0.3, noise=0.01, samples=50)
    return Baseline(
        hwtop="1",
        saved_time_s=time_s,
        watched_s=60.0,
        identity=JobIdentity(script="train.py", world_size=2),
        levels={"step_time_s": level},
        format=format_,
    )


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def test_the_newest_watches_are_kept(home: dict[str, str]) -> None:
    for number in range(12):
        learned.save("a" * 32, run(float(number)), learned.load("a" * 32, home), home)
    kept = learned.load("a" * 32, home)
    assert [each.saved_time_s for each in kept] == [float(number) for number in range(4, 12)]
    assert [each.saved_time_s for each in learned.everything(home)] == [11.0]


def test_only_the_person_may_read_it(home: dict[str, str]) -> None:
    learned.save("a" * 32, run(1.0), (), home)
    place = learned.folder(home) / f"{'a' * 32}.json"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [entry.name for entry in place.parent.iterdir()] == [place.name]


def test_jobs_that_were_not_seen_for_long_are_forgotten(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "JOBS", 3)
    for number in range(5):
        learned.save(f"{number:032}", run(float(number)), (), home)
        os.utime(learned.folder(home) / f"{number:032}.json", (number, number))
    learned.save(f"{9:032}", run(9.0), (), home)
    assert sorted(entry.stem[-1] for entry in learned.folder(home).iterdir()) == ["3", "4", "9"]


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', '[{"hwtop": "1"}]'])
def test_what_cannot_be_understood_is_nothing(home: dict[str, str], text: str) -> None:
    learned.folder(home).mkdir(parents=True)
    (learned.folder(home) / "b.json").write_text(text)
    assert learned.load("b", home) == ()
    assert learned.everything(home) == []


def test_another_format_is_nothing(home: dict[str, str]) -> None:
    learned.save("b", run(1.0, format_=FORMAT + 1), (), home)
    assert learned.load("b", home) == ()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "hwtop").write_text("a file")
    blocked = {"XDG_STATE_HOME": str(tmp_path)}
    learned.save("a", run(1.0), (), blocked)
    assert learned.load("a", blocked) == ()
    assert learned.everything(blocked) == []
