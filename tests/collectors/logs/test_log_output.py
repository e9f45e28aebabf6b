"""What a job writes into pipes and terminals, followed to files: real pipelines, and trees in the shape of container runtimes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hwtop.collectors.logs.container import container_files, container_of
from hwtop.collectors.logs.output import Output, Outputs
from hwtop.collectors.logs.slurm import step_files
from hwtop.collectors.logs.source import LogSource
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.log import LogFile
from tests.training import kill

SAYS = "import time; print('step 1 loss 2.5', flush=True); time.sleep(600)"
ID = "3f2a" * 16


class Pipelines:
    """Shell lines that run until the test is over; PROGRAM prints one line and stays."""

    def __init__(self, folder: Path, lines: dict[str, str]) -> None:
        self.folder = folder
        self._shells: dict[str, subprocess.Popen[bytes]] = {}
        self._lines = lines
        program = f'{sys.executable} -c "{SAYS}"'
        for name, line in lines.items():
            where = folder / name
            where.mkdir()
            filled = line.replace("PROGRAM", program)
            self._shells[name] = subprocess.Popen(
                ["bash", "-c", f"{filled}; true"], cwd=where, stdout=subprocess.DEVNULL, start_new_session=True
            )

    def writer(self, name: str) -> tuple[int, str]:
        """(PID of the program, where its standard output goes)."""
        end_s = time.monotonic() + 60
        while time.monotonic() < end_s:
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    cmdline = (process / "cmdline").read_bytes()
                    if SAYS.encode() in cmdline.split(b"\0") and os.readlink(process / "cwd") == str(
                        self.folder / name
                    ):
                        return int(process.name), os.readlink(process / "fd" / "1")
                except OSError:
                    continue
            time.sleep(0.05)
        raise TimeoutError(name)

    def stop(self) -> None:
        for shell in self._shells.values():
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if os.getsid(int(process.name)) == shell.pid and int(process.name) != shell.pid:
                        kill(int(process.name))
                except (OSError, ValueError):
                    continue
            shell.kill()
            shell.wait()


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipelines]:
    lines = {
        "tee": "PROGRAM 2>&1 | tee train.log > /dev/null",
        "tee -a of several": "PROGRAM |& tee -a train.log copy.log > /dev/null",
        "cat": "PROGRAM 2>&1 | cat > train.log",
        "filters": "PROGRAM | stdbuf -oL grep --line-buffered step | stdbuf -oL sed -u s/x/y/ | tee train.log > /dev/null",
        "nobody": "PROGRAM | sleep 600",
    }
    folder = tmp_path_factory.mktemp("pipelines")
    started = Pipelines(folder, lines)
    try:
        yield started
    finally:
        started.stop()


def first(outputs: Outputs, target: LogTarget) -> tuple[list[Output], list[LogFile]]:
    """The answer once it is there."""
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        files, untailed = outputs.resolve([target])
        if files or "looking for" not in (untailed[0].reason or ""):
            return files, untailed
    raise TimeoutError


@pytest.mark.parametrize("name", ["tee", "tee -a of several", "cat", "filters"])
def test_pipelines_end_in_their_file(pipelines: Pipelines, name: str) -> None:
    pid, target = pipelines.writer(name)
    assert target.startswith("pipe:")
    log = pipelines.folder / name / "train.log"
    source = LogSource(together_s=20.0)
    source.set_plan(SamplingPlan(logs=(LogTarget(path=target, pids=(pid,)),)))
    end_s = time.monotonic() + 60
    reported: list[str] = []
    while not reported and time.monotonic() < end_s:
        reading = source.read()
        reported = [line.text for line in reading.lines]
    assert reported == ["step 1 loss 2.5"]
    assert [(file.path, file.pids, file.reason) for file in reading.files] == [(str(log), (pid,), None)]


def test_a_pipe_that_ends_nowhere_says_who_reads_it(pipelines: Pipelines) -> None:
    pid, target = pipelines.writer("nobody")
    files, untailed = first(Outputs("/proc", time.monotonic), LogTarget(path=target, pids=(pid,)))
    assert files == []
    assert "pipe read by sleep" in (untailed[0].reason or "")
    assert "--logs" in (untailed[0].reason or "")


def test_a_terminal_that_script_records(tmp_path: Path) -> None:
    log = tmp_path / "typescript"
    pidfile = tmp_path / "pid"
    line = f"echo $$ > {pidfile}; exec sleep 600"
    with ExitStack() as stack:
        child = subprocess.Popen(
            ["script", "-q", "-f", "-c", line, str(log)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        stack.callback(child.wait)
        stack.callback(child.kill)
        end_s = time.monotonic() + 60
        while not pidfile.exists() or not pidfile.read_text().strip():
            assert time.monotonic() < end_s
            time.sleep(0.05)
        pid = int(pidfile.read_text())
        stack.callback(kill, pid)
        while not (target := os.readlink(f"/proc/{pid}/fd/1")).startswith("/dev/pts/"):  # first it writes the file
            assert time.monotonic() < end_s
            time.sleep(0.05)
        files, untailed = first(Outputs("/proc", time.monotonic), LogTarget(path=target, pids=(pid,)))
        assert (files, untailed) == ([Output(str(log), (pid,), (child.pid,))], [])


def test_the_attempt_before_is_read_too() -> None:
    path = "/logs/run_x1/attempt_2/3/stderr.log"
    files, _ = Outputs("/proc", time.monotonic).resolve([LogTarget(path=path, pids=(7,))])
    before = "/logs/run_x1/attempt_1/3"
    assert files == [
        Output(path, (7,)),
        Output(f"{before}/stdout.log", may_lack=True),
        Output(f"{before}/stderr.log", may_lack=True),
    ]
    first_attempt = LogTarget(path="/logs/run_x1/attempt_0/3/stderr.log")
    assert len(Outputs("/proc", time.monotonic).resolve([first_attempt])[0]) == 1


class Proc:
    """A /proc with a few processes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder

    def add(self, pid: int, comm: str, fds: dict[int, tuple[str, str]], cgroup: str = "", cmdline: str = "") -> None:
        """`fds`: number -> (target, flags)."""
        process = self.path / str(pid)
        (process / "fd").mkdir(parents=True)
        (process / "fdinfo").mkdir()
        (process / "comm").write_text(f"{comm}\n")
        (process / "cgroup").write_text(f"0::{cgroup}\n")
        (process / "cmdline").write_text(cmdline)
        (process / "environ").write_text("SLURM_JOB_ID=12\0")
        for fd, (target, flags) in fds.items():
            (process / "fd" / str(fd)).symlink_to(target)
            (process / "fdinfo" / str(fd)).write_text(f"pos:\t0\nflags:\t{flags}\n")


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    (tmp_path / "proc").mkdir()
    return Proc(tmp_path / "proc")


def slurm(proc: Proc, log: Path) -> None:
    """As seen with Slurm 22.05: ranks, slurmstepd at the other end of their pipes, its own log, and srun with --output."""
    proc.add(40, "python", {1: ("pipe:[11]", "01"), 2: ("pipe:[12]", "01")})
    fds = {0: ("/dev/null", "0100002"), 2: ("pipe:[12]", "01"), 3: ("/var/log/slurmd.log", "02102001")}
    fds |= {11: ("pipe:[11]", "02004000"), 13: ("pipe:[12]", "02004000")}
    proc.add(30, "slurmstepd", fds, cmdline="slurmstepd: [12.0]   \0")
    fds = {1: ("/tmp/slurm-12.out", "0102001"), 4: (str(log), "0102001"), 5: ("pipe:[77]", "01")}
    proc.add(20, "srun", fds, cmdline="srun\0-n2\0")


def test_ranks_of_srun_are_followed_to_the_file_that_srun_writes(proc: Proc, tmp_path: Path) -> None:
    slurm(proc, tmp_path / "all-12.out")
    files, untailed = first(Outputs(str(proc.path), time.monotonic), LogTarget(path="pipe:[11]", pids=(40,)))
    assert (files, untailed) == ([Output(str(tmp_path / "all-12.out"), (40,), (30,))], [])


def test_without_srun_here_slurm_is_asked(proc: Proc, tmp_path: Path) -> None:
    proc.add(30, "slurmstepd", {}, cmdline="slurmstepd: [12.0]   \0")
    log = tmp_path / "my job-12.out"
    log.touch()
    asked: list[list[str]] = []

    def ask(command: list[str]) -> str:
        asked.append(command)
        return f"JobId=12 WorkDir=/tmp StdErr={log} StdIn=/dev/null StdOut={log} Power= \n"

    assert step_files(str(proc.path), 30, ask) == (str(log),)  # type: ignore[arg-type]
    assert asked == [["scontrol", "show", "job", "-o", "12"]]
    assert step_files(str(proc.path), 30, lambda _: None) == ()


@pytest.mark.parametrize("cgroup", [f"/docker/{ID}", f"/system.slice/docker-{ID}.scope", f"/kubepods/podx/{ID}"])
def test_the_log_of_a_docker_container(proc: Proc, tmp_path: Path, cgroup: str) -> None:
    proc.add(40, "python", {1: ("pipe:[11]", "01")}, cgroup=cgroup)
    proc.add(30, "containerd-shim", {11: ("pipe:[11]", "00")})
    log = tmp_path / "var/lib/docker/containers" / ID / f"{ID}-json.log"
    log.parent.mkdir(parents=True)
    log.write_text('{"log":"step 3 loss 1.5\\n","stream":"stdout","time":"2026-01-02T03:04:05.1Z"}\n')
    source = LogSource(proc=str(proc.path), root=str(tmp_path), together_s=20.0)
    source.set_plan(SamplingPlan(logs=(LogTarget(path="pipe:[11]", pids=(40,)),)))
    end_s = time.monotonic() + 60
    reported: list[str] = []
    while not reported and time.monotonic() < end_s:
        reported = [line.text for line in source.read().lines]
    assert reported == ["step 3 loss 1.5"]


def test_a_pod_and_what_cannot_be_seen(proc: Proc, tmp_path: Path) -> None:
    proc.add(40, "python", {1: ("pipe:[11]", "01")}, cgroup=f"/kubepods.slice/cri-containerd-{ID}.scope")
    assert container_of(str(proc.path), (41, 40)) == ID
    outputs = Outputs(str(proc.path), time.monotonic, str(tmp_path))
    _, untailed = first(outputs, LogTarget(path="pipe:[11]", pids=(40,)))
    assert f"docker logs -f {ID[:12]}" in (untailed[0].reason or "")
    log = tmp_path / "var/log/containers" / f"train-0_default_main-{ID}.log"
    log.parent.mkdir(parents=True)
    log.touch()
    assert container_files(ID, str(tmp_path)) == (str(log),)
