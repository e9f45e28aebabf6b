"""Files that a job leads hwtop to: whose they are, and who else may read them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hwtop.collectors.found_file import open_found, read_found
from hwtop.collectors.logs.source import LogSource
from hwtop.collectors.metrics.source import MetricsSource
from hwtop.collectors.process.error_file import last_words
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.metrics import MetricsTarget
from tests.collectors.file_owners import OWNER, STRANGER, FileOwners


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "found"
    path.write_text("told")
    return path


def test_only_so_much_is_read(file: Path) -> None:
    assert read_found(str(file), None, 3)[0] == b"tol"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/tty", "/proc/self", "fifo"])
def test_only_a_regular_file_is_opened(path: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="regular"):
        open_found(str(tmp_path / path), None)


@pytest.mark.parametrize(
    ("owner", "mode", "uid", "reason"),
    [
        (OWNER, 0o600, OWNER, None),
        (0, 0o644, OWNER, None),
        (STRANGER, 0o644, OWNER, "belongs to another user"),
        (STRANGER, 0o644, None, "belongs to another user"),
        (0, 0o600, OWNER, "may not read it"),
        (0, 0o640, OWNER, "may not read it"),
        (0, 0o600, 0, None),
    ],
)
def test_what_counts_for_the_job(
    owner: int, mode: int, uid: int | None, reason: str | None, file: Path, owners: FileOwners
) -> None:
    owners.give(file, owner)
    file.chmod(mode)
    if reason is None:
        os.close(open_found(str(file), uid))
    else:
        with pytest.raises(OSError, match=reason):
            open_found(str(file), uid)


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"message": "\xff"}', b"", b"\x00" * 100, b'{"message": {"message": ' + b"1" * 5_000 + b"}}"],
)
def test_a_broken_error_file_holds_no_words(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert last_words(str(file), os.geteuid()) is None


def test_an_error_file_of_another_user_holds_no_words(file: Path, owners: FileOwners) -> None:
    file.write_text('{"message": "forged"}')
    assert last_words(str(file), OWNER) == "forged"
    owners.give(file, STRANGER)
    assert last_words(str(file), OWNER) is None


class Process:
    """A process of user OWNER, as /proc shows it, whose output is a file."""

    def __init__(self, folder: Path, output: Path, flags: str = "0100001") -> None:
        """`flags`: as open(2) was given them, octal; write only."""
        (folder / "4711" / "fd").mkdir(parents=True)
        (folder / "4711" / "status").write_text(f"Name:\tpython\nUid:\t{OWNER}\t{OWNER}\t{OWNER}\t{OWNER}\n")
        (folder / "4711" / "fd" / "1").symlink_to(output)
        (folder / "4711" / "fdinfo").mkdir()
        (folder / "4711" / "fdinfo" / "1").write_text(f"pos:\t0\nflags:\t{flags}\n")
        self.source = LogSource(proc=str(folder), together_s=20.0)

    def lines(self, path: Path) -> tuple[list[str], str | None]:
        """What is shown of a file, and why nothing is."""
        plan = SamplingPlan(target_pid=4711, logs=(LogTarget(path=str(path), pids=(4711,)),))
        self.source.set_plan(plan)
        reading = self.source.read()
        return [line.text for line in reading.lines], reading.files[0].reason


def test_a_log_that_became_a_link_to_what_only_root_may_read_is_not_shown(tmp_path: Path, owners: FileOwners) -> None:
    secret, output = tmp_path / "secret", tmp_path / "output"
    secret.write_text("root:x\n")
    secret.chmod(0o600)
    output.write_text("step 1\n")
    (tmp_path / "train.log").symlink_to(secret)
    process = Process(tmp_path / "proc", output)
    lines, reason = process.lines(tmp_path / "train.log")
    assert (lines, "may not read it" in (reason or "")) == ([], True)
    secret.chmod(0o644)
    assert process.lines(tmp_path / "train.log")[0] == ["root:x"]


def test_a_log_of_another_user_that_the_job_does_not_write_is_not_the_jobs(tmp_path: Path, owners: FileOwners) -> None:
    """Such as the console of a W&B run that somebody left in the folder where the job works."""
    log = tmp_path / "output.log"
    log.write_text("CUDA out of memory\n")
    owners.give(log, STRANGER)
    assert Process(tmp_path / "other", tmp_path / "train.log").lines(log)[0] == []
    assert Process(tmp_path / "own", log).lines(log)[0] == ["CUDA out of memory"]


def test_what_is_put_in_the_place_of_a_followed_log_is_looked_at_anew(tmp_path: Path, owners: FileOwners) -> None:
    secret, log = tmp_path / "secret", tmp_path / "train.log"
    secret.write_text("root:x\n")
    secret.chmod(0o600)
    log.write_text("step 1\n")
    owners.give(log, OWNER)
    process = Process(tmp_path / "proc", tmp_path / "other")
    assert process.lines(log)[0] == ["step 1"]
    log.unlink()
    log.symlink_to(secret)
    for _ in range(4):
        assert process.lines(log)[0] == []


def test_root_is_shown_its_own_file_that_the_job_prints_into(tmp_path: Path, owners: FileOwners) -> None:
    log = tmp_path / "service.log"
    log.write_text("step 1\n")
    log.chmod(0o600)
    assert Process(tmp_path / "proc", log).lines(log)[0] == ["step 1"]
    for name, flags in (("path", "010100000"), ("read", "0100000")):  # O_PATH asks for no permission
        assert Process(tmp_path / name, log, flags).lines(log)[0] == []


def metrics(folder: Path, uid: int | None, files: tuple[str, ...] = ()) -> dict[str, str | None]:
    """Name -> why a file is not read."""
    now_s = 1000.0
    source = MetricsSource(now=lambda: now_s, wall=time.time)
    target = MetricsTarget(pid=os.getpid(), own_pid=7, rank=0, uid=uid, folders=(str(folder),), files=files)
    source.set_plan(SamplingPlan(metrics=(target,)))
    for _ in range(3):
        now_s += 5.0
        reading = source.read()
    assert reading is not None
    return {Path(file.path).name: file.reason for file in reading.files}


def test_metrics_of_another_user_tell_nothing_unless_the_job_writes_them(tmp_path: Path, owners: FileOwners) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n1,2.5\n")
    owners.give(path, STRANGER)
    assert "belongs to another user" in (metrics(tmp_path, OWNER)["metrics.csv"] or "")
    assert metrics(tmp_path, OWNER, (str(path),)) == {"metrics.csv": None}
    assert metrics(tmp_path, STRANGER) == {"metrics.csv": None}


def test_one_hostile_metrics_file_holds_up_no_other(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_text("[" * 200_000)
    (tmp_path / "mlruns/0/ab/metrics").mkdir(parents=True)
    (tmp_path / "mlruns/0/ab/metrics/loss").write_text("9" * 309 + " 2.5 1\n")
    (tmp_path / "metrics.jsonl").write_text(
        '{"step": 1, "loss": ' + "[" * 100_000 + "\n" + '{"step": 2, "loss": 2.5}\n'
    )
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2.5\n")
    assert metrics(tmp_path, os.geteuid())["metrics.csv"] is None
