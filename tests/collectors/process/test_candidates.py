from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hwtop.collectors.process.candidates import CandidateSource, ProgramSource, find_by_name
from hwtop.errors import UsageError
from hwtop.model.plan import SamplingPlan
from tests.collectors.fake_proc import FakeProc, FakeProcess, replay_recorded


def rank_env(rank: int) -> dict[str, str]:
    return {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}


def box() -> list[FakeProcess]:
    return [
        FakeProcess(1, 0, "/sbin/init", comm="systemd"),
        FakeProcess(2, 0, "kthreadd", flags=0x208040),
        FakeProcess(3, 2, "kworker/0", flags=0x4208060),
        FakeProcess(10, 1, "-bash", comm="bash"),
        FakeProcess(20, 10, "python -u launcher.py --size big"),
        FakeProcess(21, 20, "python rank.py", env=rank_env(0)),
        FakeProcess(22, 20, "python rank.py", env=rank_env(1)),
        FakeProcess(23, 21, "python rank.py", env=rank_env(0)),
        FakeProcess(30, 10, "python serve.py"),
        FakeProcess(40, 10, "postgres -D x"),
        FakeProcess(50, 10, "python /opt/bin/hwtop"),
        FakeProcess(51, 50, "py-spy dump"),
        FakeProcess(60, 10, "tail -f rank.py.log"),
    ]


def source(root: Path) -> CandidateSource:
    return CandidateSource(str(root), own_pid=50)


def test_training_first_then_python_then_the_rest(tmp_path: Path) -> None:
    FakeProc(tmp_path, box())
    reading = source(tmp_path).read()
    assert [(c.pid, c.kind, c.ranks) for c in reading.candidates] == [
        (20, "training", 2),
        (30, "python", 1),
        (40, "other", 0),
    ]
    job = reading.candidates[0]
    assert job.title == "launcher.py --size big"
    assert job.age_s == pytest.approx(10_000 - 20 / os.sysconf("SC_CLK_TCK"))
    assert (reading.scanned, reading.truncated) == (13, False)


def test_a_program_is_known_by_the_training_library_that_it_has_loaded(tmp_path: Path) -> None:
    FakeProc(tmp_path, box())
    (tmp_path / "30" / "maps").write_bytes(
        b"7f00-7f01 r-xp 0 08:01 7 /env/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so\n"
        b"7f02-7f03 r-xp 0 08:01 8 /env/lib/python3.12/site-packages/sklearn/_isotonic.so\n"
    )
    (tmp_path / "40" / "maps").write_bytes(b"7f00-7f01 r-xp 0 08:01 7 /opt/torch/lib/libtorch_cpu.so\n")
    found = {each.pid: each.framework for each in source(tmp_path).read().candidates}
    assert found == {20: None, 30: "torch", 40: None}  # the last is no Python program


def test_a_map_is_read_again_when_the_memory_of_the_program_has_changed(tmp_path: Path) -> None:
    young = FakeProcess(30, 10, "python serve.py", start_ticks=9_990 * os.sysconf("SC_CLK_TCK"))
    proc = FakeProc(tmp_path, [*box(), young])
    (tmp_path / "30" / "maps").write_bytes(b"")
    candidates = source(tmp_path)

    def framework() -> str | None:
        return next(each.framework for each in candidates.read().candidates if each.pid == 30)

    assert framework() is None
    (tmp_path / "30" / "maps").write_bytes(b"7f00-7f01 r-xp 0 08:01 7 /env/torch/lib/libtorch_cpu.so\n")
    assert framework() is None, "reading a map keeps the program from mapping"
    proc.put(replace(young, rss_pages=100_000))
    assert framework() == "torch"


def test_the_youngest_of_a_kind_comes_first(tmp_path: Path) -> None:
    FakeProc(tmp_path, [*box(), FakeProcess(31, 10, "python later.py")])
    assert [c.pid for c in source(tmp_path).read().candidates if c.kind == "python"] == [31, 30]


def test_recorded_torchrun_is_one_training_job(tmp_path: Path) -> None:
    replay_recorded(tmp_path)
    (job,) = CandidateSource(str(tmp_path), own_pid=0).read().candidates
    assert (job.pid, job.kind, job.ranks) == (4642, "training", 2)
    assert job.title.startswith("torchrun --standalone")
    assert job.age_s is None  # the recording holds no uptime


def test_two_runs_of_one_command_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    FakeProc(tmp_path / "proc", box())
    for pid in (20, 30):
        (tmp_path / f"run{pid}").mkdir()
        (tmp_path / "proc" / str(pid) / "cwd").unlink(missing_ok=True)
        (tmp_path / "proc" / str(pid) / "cwd").symlink_to(tmp_path / f"run{pid}")
    folders = {job.pid: job.folder for job in source(tmp_path / "proc").read().candidates}
    assert (folders[20], folders[30]) == (str(tmp_path / "run20"), str(tmp_path / "run30"))


def test_a_finished_launcher_leaves_one_job_not_two(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, box())
    proc.remove(20)
    jobs = [c for c in source(tmp_path).read().candidates if c.kind == "training"]
    assert [(c.pid, c.ranks) for c in jobs] == [(21, 2)]


def test_a_job_that_ends_or_starts_is_seen_by_the_next_scan(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, box())
    candidates = source(tmp_path)
    candidates.read()
    proc.remove(30)
    proc.put(FakeProcess(70, 10, "python new.py"))
    assert [c.pid for c in candidates.read().candidates] == [20, 70, 40]


def test_a_blocked_command_line_hides_no_other_job(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, box())
    proc.block(40, "cmdline")
    assert [c.pid for c in source(tmp_path).read().candidates] == [20, 30, 40]


def test_another_users_job_says_who_can_attach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeProc(tmp_path, box())
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    job = source(tmp_path).read().candidates[0]
    assert not job.can_attach
    assert job.reason is not None
    assert "or as root" in job.reason
    monkeypatch.undo()
    assert source(tmp_path).read().candidates[0].can_attach


@pytest.mark.parametrize(("pattern", "pid"), [("launcher", 20), ("rank.py", 20), ("serve", 30), ("postgres", 40)])
def test_find_by_name(tmp_path: Path, pattern: str, pid: int) -> None:
    FakeProc(tmp_path, box())
    assert find_by_name(pattern, str(tmp_path), own_pid=50) == pid


def test_find_by_name_lists_what_could_be_meant(tmp_path: Path) -> None:
    FakeProc(tmp_path, [*box(), FakeProcess(31, 10, "python serve.py --other")])
    with pytest.raises(UsageError, match=r"2 jobs match 'serve'.*31 serve.py --other.*30 serve.py"):
        find_by_name("serve", str(tmp_path), own_pid=50)
    with pytest.raises(UsageError, match=r"no job matches 'nix\['.*20 launcher.py"):
        find_by_name("nix[", str(tmp_path), own_pid=50)


def test_a_scan_measures_every_job(tmp_path: Path) -> None:
    FakeProc(tmp_path, box())
    reading = source(tmp_path).read()
    used = {each.pid: each for each in reading.programs}
    assert used.keys() >= {job.pid for job in reading.candidates}
    assert set(used[20].pids) >= {20, 21, 22}, "the ranks are part of the tree"


def test_the_age_of_a_log_is_that_of_the_newest_file_that_a_process_writes(tmp_path: Path) -> None:
    FakeProc(tmp_path, box())
    log = tmp_path / "rank.log"
    log.write_text("step 1")
    os.utime(log, (time.time() - 300, time.time() - 300))
    (tmp_path / "30" / "fd").mkdir(exist_ok=True)
    (tmp_path / "30" / "fd" / "1").symlink_to(log)
    (tmp_path / "30" / "fd" / "2").symlink_to("/dev/null")
    ages = {job.pid: job.log_age_s for job in source(tmp_path).read().candidates}
    assert ages[30] == pytest.approx(300, abs=60), "a device has no age"
    assert ages[20] is None


def test_beside_a_job_all_processes_are_scanned_only_while_somebody_asks(tmp_path: Path) -> None:
    FakeProc(tmp_path, box())
    programs = ProgramSource(source(tmp_path))
    assert programs.read() is None
    programs.set_plan(SamplingPlan(scans=True))
    reading = programs.read()
    assert reading is not None
    assert reading.programs
    assert reading.candidates == (), "command lines of others go into no recording"
