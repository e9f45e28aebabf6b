"""Metrics files found and followed on a real disk."""

from __future__ import annotations

import math
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from hwtop.collectors.metrics.search import search
from hwtop.collectors.metrics.source import MetricsSource
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.metrics import MetricsFile, MetricsTarget
from tests.metrics_files import DATA, EVENTS, event

WALL_S = 1_760_000_060.0


class Times:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def now(self) -> float:
        return self.now_s

    def wall(self) -> float:
        return WALL_S + self.now_s - 1000.0


class Watch:
    """A source that looks into one folder."""

    def __init__(self, folder: Path, **fields: object) -> None:
        self.times = Times()
        self.source = MetricsSource(now=self.times.now, wall=self.times.wall)
        self.target = MetricsTarget(pid=os.getpid(), own_pid=4711, rank=2, folders=(str(folder),))
        self.source.set_plan(SamplingPlan(metrics=(self.target,), **fields))  # type: ignore[arg-type]

    def read(self, after_s: float = 5.0) -> dict[str, MetricsFile]:
        self.times.now_s += after_s
        reading = self.source.read()
        assert reading is not None
        return {Path(file.path).name: file for file in reading.files}


def losses(file: MetricsFile) -> list[tuple[int | None, float]]:
    return [(point.step, point.value) for point in file.points if point.name == "loss"]


def test_all_kinds_are_found_below_the_working_folder(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "job")
    files = Watch(tmp_path / "job").read()
    assert {name: file.kind for name, file in files.items()} == {
        EVENTS: "tensorboard",
        "run-abc12345.wandb": "wandb",
        "loss": "mlflow",
        "metrics.csv": "csv",
    }
    assert [step for step, _ in losses(files["loss"])] == [*range(0, 101, 10)]
    assert math.isnan(losses(files["loss"])[-1][1])
    assert all(file.reason is None and file.broken == 0 for file in files.values())


def test_each_value_is_told_once_and_growth_is_followed(tmp_path: Path) -> None:
    path = tmp_path / EVENTS
    path.write_bytes(event(1, "loss", 3.0, WALL_S - 10))
    watch = Watch(tmp_path)
    (point,) = watch.read()[EVENTS].points
    assert point.is_past
    assert point.at_s == pytest.approx(990.0)
    assert watch.read()[EVENTS].points == ()
    with path.open("ab") as file:
        file.write(event(2, "loss", 2.0, WALL_S + 9) + event(3, "loss", 1.0, WALL_S + 10)[:20])
    (point,) = watch.read()[EVENTS].points
    assert (point.step, point.is_past) == (2, False)
    assert point.at_s == pytest.approx(1009.0)


def test_the_writer_is_known_by_open_file_by_pid_and_by_name(tmp_path: Path) -> None:
    (tmp_path / EVENTS).write_bytes(event(1, "loss", 3.0))
    (tmp_path / "rank7").mkdir()
    (tmp_path / "rank7" / "metrics.jsonl").write_text('{"step": 1, "loss": 2}\n')
    (tmp_path / "results.csv").write_text("step,loss\n1,2\n")
    files = Watch(tmp_path).read()
    assert (files[EVENTS].rank, files["metrics.jsonl"].rank, files["results.csv"].rank) == (2, 7, None)
    watch = Watch(tmp_path)
    opened = MetricsTarget(pid=os.getpid(), own_pid=1, rank=5, files=(str(tmp_path / "results.csv"),))
    watch.source.set_plan(SamplingPlan(metrics=(opened,)))
    assert watch.read()["results.csv"].rank == 5


def test_rows_without_a_time_are_as_old_as_the_file(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2\n")
    os.utime(tmp_path / "metrics.csv", (WALL_S - 30, WALL_S - 30))
    file = Watch(tmp_path).read()["metrics.csv"]
    assert (file.has_times, file.points[0].is_past) == (False, True)
    assert file.points[0].at_s == pytest.approx(970.0)


def test_files_of_earlier_runs_and_logs_are_left_alone(tmp_path: Path) -> None:
    old, log = tmp_path / "metrics.csv", tmp_path / "log.jsonl"
    for path in (old, log):
        path.write_text("step,loss\n1,2\n")
    os.utime(old, (WALL_S - 1000, WALL_S - 1000))
    watch = Watch(tmp_path, logs=(LogTarget(path=str(log)),))
    target = MetricsTarget(pid=os.getpid(), own_pid=1, started_s=WALL_S - 100, folders=(str(tmp_path),))
    watch.source.set_plan(SamplingPlan(metrics=(target,), logs=(LogTarget(path=str(log)),)))
    assert watch.read() == {}


def test_a_table_written_anew_with_another_column_tells_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n1,5\n2,4\n")
    watch = Watch(tmp_path)
    assert losses(watch.read()["metrics.csv"]) == [(1, 5.0), (2, 4.0)]
    path.write_text("step,loss,lr\n1,5,\n2,4,\n3,3,0.1\n")
    assert losses(watch.read()["metrics.csv"]) == [(3, 3.0)]


def test_a_run_that_begins_again_is_told_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n1,5\n2,4\n3,3\n")
    watch = Watch(tmp_path)
    watch.read()
    path.write_text("step,loss\n1,7\n")
    assert losses(watch.read()["metrics.csv"]) == [(1, 7.0)]


def test_states_of_later_checkpoints_go_on_where_the_first_ended(tmp_path: Path) -> None:
    def save(step: int) -> None:
        rows = ", ".join(f'{{"step": {at}, "loss": {at / 10}}}' for at in range(10, step + 1, 10))
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "trainer_state.json").write_text(f'{{"max_steps": 90, "log_history": [{rows}]}}')

    save(20)
    os.utime(tmp_path / "checkpoint-20" / "trainer_state.json", (WALL_S, WALL_S))
    watch = Watch(tmp_path)
    first = watch.read()["trainer_state.json"]
    assert (losses(first), first.total_steps) == ([(10, 1.0), (20, 2.0)], 90)
    save(40)
    watch.read(30)
    later = watch.read(30)["trainer_state.json"]
    found = losses(later)
    assert later.path.endswith("checkpoint-40/trainer_state.json")
    assert [step for step, _ in found] in ([30, 40], [])


def test_of_a_long_past_the_end_is_read(tmp_path: Path) -> None:
    rows = "".join(f"{step},{step}.5,{'x' * 100}\n" for step in range(60_000))
    (tmp_path / "metrics.csv").write_text("step,loss,note\n" + rows)
    watch = Watch(tmp_path)
    found: list[tuple[int | None, float]] = []
    skipped = 0
    pause = threading.Event()
    until_s = time.monotonic() + 90.0
    while time.monotonic() < until_s:
        file = watch.read(2)["metrics.csv"]
        found += losses(file)
        skipped = file.skipped_bytes
        if found and found[-1][0] == 59_999:
            break
        pause.wait(0.02)
    assert found[-1] == (59_999, 59_999.5)
    assert skipped > 1 << 20
    assert len(found) < 40_000


def test_broken_and_foreign_files_are_a_count_or_a_reason(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n1,5,6,7\n2,4\n")
    (tmp_path / "run-x.wandb").write_bytes(b"nothing of the kind")
    (tmp_path / "log.txt").write_text("plain text\n" * 1000)
    (tmp_path / EVENTS).write_bytes(os.urandom(5000))
    files = Watch(tmp_path).read()
    assert (losses(files["metrics.csv"]), files["metrics.csv"].broken) == ([(2, 4.0)], 1)
    assert files["run-x.wandb"].broken == 1
    assert files["log.txt"].reason == "no metrics file: not read"
    assert files[EVENTS].points == ()


def test_a_dead_mount_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n1,5\n")
    (tmp_path / "results.csv").write_text("step,loss\n1,4\n")
    monkeypatch.setattr("hwtop.collectors.metrics.source._SLOW_S", 0.01)
    never, opened = threading.Event(), os.open

    def slow(path: str, *rest: int) -> int:
        if path.endswith("results.csv"):
            never.wait(20)
        return opened(path, *rest)

    monkeypatch.setattr("hwtop.collectors.metrics.file.os.open", slow)
    source = MetricsSource()
    source.set_plan(SamplingPlan(metrics=(MetricsTarget(pid=os.getpid(), own_pid=1, folders=(str(tmp_path),)),)))
    reported: list[MetricsFile] = []
    for _ in range(2):
        reading = source.read()
        assert reading is not None
        reported += reading.files
    never.set()
    assert any(losses(file) == [(1, 5.0)] for file in reported)
    assert any(file.reason is not None and "not answered" in file.reason for file in reported)


def test_the_search_is_bounded_and_takes_no_side_roads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b" / "c" / "d" / "e" / "f" / "g" / "h"
    deep.mkdir(parents=True)
    for folder in (deep, tmp_path / ".git", tmp_path / "node_modules", tmp_path / "kept"):
        folder.mkdir(exist_ok=True)
        (folder / "metrics.csv").write_text("step,loss\n")
    (tmp_path / "kept" / "again").symlink_to(tmp_path)
    found = search([str(tmp_path)], [], "", 0.0)
    assert [each.path for each in found] == [str(tmp_path / "kept" / "metrics.csv")]
    monkeypatch.setattr("hwtop.collectors.metrics.search._MOST_ENTRIES", 2)
    many = tmp_path / "many"
    many.mkdir()
    for number in range(50):
        (many / f"{number}_results.csv").write_text("")
    assert len(search([str(many)], [], "", 0.0)) <= 2


def test_nobody_asks(tmp_path: Path) -> None:
    assert MetricsSource().read() is None


def test_the_console_of_a_wandb_run_is_named(tmp_path: Path) -> None:
    run = tmp_path / "wandb" / "run-1"
    (run / "files").mkdir(parents=True)
    shutil.copy(DATA / "wandb" / "run-abc12345.wandb", run)
    (run / "files" / "wandb-summary.json").write_text('{"_step": 7, "loss": 1}')
    (run / "files" / "output.log").write_text("hello\n")
    files = Watch(tmp_path).read()
    assert list(files) == ["run-abc12345.wandb"]  # the summary tells nothing more
    assert files["run-abc12345.wandb"].console == str(run / "files" / "output.log")


def test_while_two_runs_write_into_one_folder_neither_is_read(tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / f"version_{number}").mkdir()
        (tmp_path / f"version_{number}" / "metrics.csv").write_text("step,loss\n1,2\n")
        os.utime(tmp_path / f"version_{number}" / "metrics.csv", (WALL_S, WALL_S))
    watch = Watch(tmp_path)
    assert watch.read() == {}
    reading = watch.source.read()
    assert reading is not None
    assert "it is unknown which one belongs" in reading.missing["runs"]
