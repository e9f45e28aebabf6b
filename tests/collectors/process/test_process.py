from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar
from unittest.mock import Mock

import pytest

from hwtop.collectors.process.descriptors import read_files
from hwtop.collectors.process.error_file import last_words
from hwtop.collectors.process.source import ProcessSource, check_target
from hwtop.errors import UsageError
from hwtop.job.launch.tree import members
from hwtop.model.process import ProcessInfo, ProcessReading
from tests.collectors.fake_proc import FakeProc, FakeProcess, replay_recorded

T = TypeVar("T")

JOBS = Path(__file__).parents[2] / "data" / "process_jobs"
STARTUP_S = 90.0
PATIENT_S = 60.0
"""Of a source beside one file that blocks: a machine that is busy with something else must not keep it from reading the others."""
"""Importing torch in seven processes on a busy machine."""

RANK = {"RANK": "0", "WORLD_SIZE": "1", "HF_TOKEN": "hf_secret"}


def read(proc: FakeProc, pid: int) -> ProcessReading:
    source = ProcessSource(pid, str(proc.root), own_pid=0, deadline_s=PATIENT_S, boot_time=lambda: 1_700_000_000.0)
    return source.read()


def info(reading: ProcessReading, pid: int) -> ProcessInfo:
    return next(process for process in reading.processes if process.pid == pid)


def small_job() -> list[FakeProcess]:
    return [
        FakeProcess(1, 0, "/sbin/init", comm="systemd"),
        FakeProcess(10, 1, "-bash", comm="bash"),
        FakeProcess(20, 10, "python launcher.py"),
        FakeProcess(21, 20, "python rank.py", env=RANK, threads=("pt_autograd_0", "pt_autograd_0")),
        FakeProcess(22, 21, "python rank.py", env=RANK),
        FakeProcess(90, 10, "vim x"),
    ]


@pytest.mark.parametrize("pid", [4642, 4701, 4702, 4752, 4755, 4756, 4759])
def test_recorded_torchrun_from_each_pid(tmp_path: Path, pid: int) -> None:
    replay_recorded(tmp_path)
    reading = ProcessSource(pid, str(tmp_path), own_pid=0, deadline_s=PATIENT_S).read()
    assert reading.root_pid == 4642
    assert {(m.pid, m.role, m.rank) for m in members(reading.processes)} == {
        (4642, "launcher", None),
        (4701, "rank", 0),
        (4702, "rank", 1),
        (4755, "loader-worker", 0),
        (4759, "loader-worker", 0),
        (4752, "loader-worker", 1),
        (4756, "loader-worker", 1),
    }


def test_recorded_rank_in_numbers(tmp_path: Path) -> None:
    replay_recorded(tmp_path)
    rank = info(ProcessSource(4702, str(tmp_path), own_pid=0, deadline_s=PATIENT_S).read(), 4702)
    assert rank.cmdline is not None
    assert rank.cmdline[:3] == ("/opt/venv/bin/python3", "-u", "/home/ada/run/torch_rank.py")
    assert rank.env is not None
    assert (rank.env["RANK"], rank.env["WORLD_SIZE"], "HF_TOKEN" in rank.env) == ("1", "2", False)
    assert {thread.comm for thread in rank.threads} == {"python3", "pt_gloo_runloop", "gloo_tcp_loop"}
    stdout, stderr = (file for file in rank.files if file.fd in (1, 2))
    assert stdout.target.endswith("attempt_0/1/stdout.log")
    assert stderr.target.endswith("attempt_0/1/stderr.log")
    assert stdout.is_writable
    assert stderr.is_writable
    assert rank.fd_count == 20
    assert rank.thread_count == len(rank.threads) == 6
    assert rank.cpu is not None


def test_a_table_that_is_written_is_told_from_one_that_is_read_even_behind_a_hundred_shards(tmp_path: Path) -> None:
    shards = [tmp_path / f"shard-{number:03}.csv" for number in range(100)]
    for shard in shards:
        shard.write_text("a,b\n")
    with ExitStack() as opened:
        for shard in shards:
            opened.enter_context(shard.open())
        opened.enter_context((tmp_path / "journal.csv").open("w"))
        _, files = read_files("/proc/self")
    found = {Path(file.target).name: file.is_writable for file in files}
    assert found["journal.csv"]
    assert not any(is_written for name, is_written in found.items() if name.startswith("shard"))


def test_fields_of_one_process(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    reading = read(proc, 22)
    assert (reading.root_pid, [p.pid for p in reading.processes]) == (20, [20, 21, 22])
    assert reading.boot_time_s == 1_700_000_000
    rank = info(reading, 21)
    assert rank.env == {"RANK": "0", "WORLD_SIZE": "1"}
    assert (rank.user_ticks, rank.system_ticks, rank.thread_count) == (300, 40, 3)
    assert (rank.rss_bytes, rank.anon_bytes, rank.swap_bytes) == (2048 * 1024, 1024 * 1024, 0)
    assert (rank.voluntary_switches, rank.involuntary_switches, rank.tracer_pid) == (7, 3, 0)
    assert (rank.caught_signals, rank.usable_cores, rank.ns_pids) == (0x100000002, 36, (21,))
    assert (rank.read_bytes, rank.written_bytes, rank.read_chars, rank.written_chars) == (4096, 8192, 10, 20)
    assert (rank.wchan, rank.cgroup, rank.fd_limit) == ("do_epoll_wait", "/user.slice", 1024)
    assert rank.run_delay_ns == 7_000_000
    assert [thread.comm for thread in rank.threads] == ["python", "pt_autograd_0", "pt_autograd_0"]


def test_a_kernel_that_lists_no_children_is_scanned(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job(), lists_children=False)
    assert [p.pid for p in read(proc, 21).processes] == [20, 21, 22]


def test_a_blocked_command_line_is_a_reason_and_everything_else_is_there(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    proc.block(21, "cmdline")
    source = ProcessSource(21, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    for _ in range(3):
        reading = source.read()
        rank, worker = info(reading, 21), info(reading, 22)
        assert rank.cmdline is None
        assert rank.env is None
        assert rank.missing["cmdline"].startswith("not answering for")
        assert rank.missing["env"].startswith("not answering for")
        assert (rank.state, rank.wchan, rank.read_bytes) == ("S", "do_epoll_wait", 4096)
        assert worker.cmdline == ("python", "rank.py")
    # It answers again. The FIFO now reads as empty, the environment as it is.
    proc.unblock(21, "cmdline")
    (tmp_path / "21" / "cmdline").unlink()
    proc.put(small_job()[3])
    rank = until(lambda: info(source.read(), 21), lambda p: p.cmdline == ("python", "rank.py"))
    assert rank.env == {"RANK": "0", "WORLD_SIZE": "1"}
    assert rank.missing == {}


def test_blocked_io_does_not_repeat_old_counters(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    source = ProcessSource(21, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    assert info(source.read(), 22).read_bytes == 4096
    proc.block(22, "io")
    reading = source.read()
    assert info(reading, 22).read_bytes is None
    assert info(reading, 22).missing["io"].startswith("not answering")
    assert info(reading, 21).read_bytes == 4096
    proc.unblock(22, "io")


def test_a_dead_rank_is_gone_with_the_code_that_its_zombie_showed(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    source = ProcessSource(20, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    source.read()
    proc.put(FakeProcess(21, 20, "python rank.py", state="Z", exit_status=9))
    zombie = info(source.read(), 21)
    assert (zombie.state, zombie.exit_code) == ("Z", -9)
    assert zombie.env == {"RANK": "0", "WORLD_SIZE": "1"}  # as read while it lived
    proc.remove(21)
    reading = source.read()
    assert [(g.pid, g.comm, g.exit_code) for g in reading.gone] == [(21, "python", -9)]
    assert info(reading, 22).ppid == 1  # its worker outlives it and still belongs
    assert source.read().gone == reading.gone


def test_the_launcher_dies_and_then_everything(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    source = ProcessSource(22, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    source.read()
    proc.remove(20)
    assert source.read().root_pid == 21
    proc.remove(21)
    proc.remove(22)
    reading = source.read()
    assert (reading.root_pid, reading.processes) == (None, ())
    assert {g.pid for g in reading.gone} == {20, 21, 22}
    assert "ended" in reading.missing["processes"]


def test_a_reused_pid_is_another_process(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    source = ProcessSource(21, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    source.read()
    proc.put(FakeProcess(22, 10, "vim y", start_ticks=999))
    reading = source.read()
    assert [p.pid for p in reading.processes] == [20, 21]
    assert [g.pid for g in reading.gone] == [22]


def test_exec_is_noticed(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    source = ProcessSource(21, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    source.read()
    proc.put(FakeProcess(22, 21, "python other.py", env={"RANK": "5"}))
    worker = info(source.read(), 22)
    assert (worker.cmdline, worker.env) == (("python", "other.py"), {"RANK": "5"})


def test_orphaned_ranks_are_found_together(tmp_path: Path) -> None:
    env = {"WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "r1"}
    orphans = [FakeProcess(30 + i, 1, "python t.py", env={**env, "RANK": str(i)}) for i in range(2)]
    proc = FakeProc(tmp_path, [*small_job(), *orphans])
    for pid in (30, 31):
        reading = read(proc, pid)
        assert (reading.root_pid, [p.pid for p in reading.processes]) == (30, [30, 31])


def test_hwtop_itself_is_no_part_of_the_job(tmp_path: Path) -> None:
    own = FakeProcess(23, 21, "python hwtop")
    FakeProc(tmp_path, [*small_job(), own, FakeProcess(24, 23, "py-spy dump")])
    reading = ProcessSource(22, str(tmp_path), own_pid=23, deadline_s=PATIENT_S).read()
    assert [p.pid for p in reading.processes] == [20, 21, 22]


def test_monitors_and_their_shells_in_the_step_of_the_ranks_are_no_part_of_the_job(tmp_path: Path) -> None:
    step = [
        FakeProcess(1, 0, "/sbin/init", comm="systemd"),
        FakeProcess(20, 1, "slurmstepd: [4711.0]", comm="slurmstepd"),
        FakeProcess(30, 20, "/bin/bash watch.sh"),
        FakeProcess(31, 30, "python /venv/bin/hwtop wait 21"),
        FakeProcess(32, 30, "python /venv/bin/hwtop web"),
        FakeProcess(33, 32, "py-spy dump"),
    ]
    FakeProc(tmp_path, [*step, FakeProcess(21, 20, "python rank.py", env=RANK)])
    source = ProcessSource(21, str(tmp_path), own_pid=31, deadline_s=PATIENT_S)
    reading = source.read()
    assert (reading.root_pid, [p.pid for p in reading.processes]) == (20, [20, 21])
    shutil.rmtree(tmp_path / "21")
    reading = source.read()
    assert (reading.root_pid, reading.processes) == (None, ())  # the job has ended, although its step has not


def test_no_python_is_a_tree_too(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, [*small_job(), FakeProcess(91, 90, "sort big")])
    assert [p.pid for p in read(proc, 90).processes] == [90, 91]


def test_bad_targets_are_one_clear_line(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, [*small_job(), FakeProcess(2, 0, "kthreadd", flags=0x208040)])
    for pid in (10**8, 0, -3):
        with pytest.raises(UsageError, match=f"no process {pid}"):
            check_target(pid, str(proc.root))
    with pytest.raises(UsageError, match="kernel thread"):
        check_target(2, str(proc.root))
    assert check_target(21, str(proc.root)) == 21


@pytest.mark.parametrize("answer", [None, PermissionError()])
def test_a_process_that_proc_hides_is_not_called_gone(
    answer: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mounted with hidepid, of another user; or not mounted at all."""
    monkeypatch.setattr(os, "kill", Mock(side_effect=answer))
    proc = FakeProc(tmp_path, small_job())
    with pytest.raises(UsageError, match=r"process 4711 is not visible .* \(hidepid, .*\): sudo .* 4711$"):
        check_target(4711, str(proc.root))


def test_a_thread_leads_to_its_process() -> None:
    tids = {int(name) for name in os.listdir("/proc/self/task")}
    assert {check_target(tid) for tid in tids} == {os.getpid()}


# Real processes


def until(look: Callable[[], T], holds: Callable[[T], bool], for_s: float = 20.0) -> T:
    """The first value that holds."""
    end_s = time.monotonic() + for_s
    while not holds(value := look()):
        assert time.monotonic() < end_s, f"never came to hold: {value}"
        time.sleep(0.05)
    return value


Place = tuple[str, int | None, int]


class RealJob:
    """A job and what its own processes say that they are."""

    def __init__(self, roster: Path, argv: list[str], count: int) -> None:
        roster.touch()
        self.popen = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self._roster = roster
        self.pids: set[int] = {self.popen.pid}
        self.places: set[Place] = until(self._reported, lambda reported: len(reported) >= count, STARTUP_S)
        self.pids |= {pid for _, _, pid in self.places}

    def _reported(self) -> set[Place]:
        assert self.popen.poll() is None, f"the job ended with {self.popen.returncode}"
        lines = [line.split() for line in self._roster.read_text().splitlines()]
        reported = {(role, None if rank == "-" else int(rank), int(pid)) for role, rank, pid in lines}
        self.pids |= {pid for _, _, pid in reported}
        return reported

    def rank(self, number: int) -> int:
        return next(pid for role, rank, pid in self.places if (role, rank) == ("rank", number))

    def end(self) -> None:
        for process in ProcessSource(self.popen.pid).read().processes:
            self.pids.add(process.pid)
        for pid in self.pids:
            if pid != os.getpid():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        self.popen.wait()


Start = Callable[[list[str], int], RealJob]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    jobs: list[RealJob] = []

    def start_job(argv: list[str], count: int) -> RealJob:
        roster = tmp_path / f"roster-{len(jobs)}"
        job = RealJob(roster, [word.replace("ROSTER", str(roster)) for word in argv], count)
        jobs.append(job)
        return job

    yield start_job
    for job in jobs:
        job.end()


def script(name: str, method: str, *before: str) -> list[str]:
    return [sys.executable, *before, str(JOBS / name), "ROSTER", method, "2"]


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.real
@pytest.mark.parametrize(
    ("argv", "count"),
    [
        pytest.param(script("torch_rank.py", "fork", *TORCHRUN), 6, id="torchrun"),
        pytest.param(script("spawn_ranks.py", "fork"), 7, id="multiprocessing.spawn"),
        pytest.param(script("own_launcher.py", "fork"), 7, id="own launcher, forked workers"),
        pytest.param(script("own_launcher.py", "spawn"), 7, id="own launcher, spawned workers"),
        pytest.param(script("own_launcher.py", "forkserver"), 7, id="own launcher, fork server"),
        pytest.param(script("own_rank.py", "fork"), 3, id="plain python, forked workers"),
        pytest.param(script("own_rank.py", "spawn"), 3, id="plain python, spawned workers"),
        pytest.param(script("torch_rank.py", "spawn"), 3, id="plain torch, spawned workers"),
    ],
)
def test_real_job_from_each_of_its_processes(start: Start, argv: list[str], count: int) -> None:
    job = start(argv, count)
    for pid in job.pids:
        reading = ProcessSource(pid).read()
        assert reading.root_pid == job.popen.pid
        found = {(m.role, m.rank, m.pid) for m in members(reading.processes)}
        assert job.places <= found
        reported = {pid for _, _, pid in job.places}
        assert {role for role, _, pid in found if pid not in reported} <= {"launcher", "resource-tracker", "other"}


@pytest.mark.real
def test_stop_and_kill_of_a_real_rank(start: Start) -> None:
    job = start(script("own_launcher.py", "fork"), 7)
    source = ProcessSource(job.popen.pid)
    rank = job.rank(1)
    assert info(source.read(), rank).state in "RS"
    os.kill(rank, signal.SIGSTOP)
    stopped = until(lambda: info(source.read(), rank), lambda p: p.state == "T")
    assert {thread.state for thread in stopped.threads} == {"T"}
    before = members(source.read().processes)
    os.kill(job.popen.pid, signal.SIGSTOP)  # so that nobody reaps the rank
    os.kill(rank, signal.SIGKILL)
    assert until(lambda: info(source.read(), rank), lambda p: p.state == "Z").exit_code == -signal.SIGKILL
    os.kill(job.popen.pid, signal.SIGCONT)
    gone = until(lambda: source.read().gone, lambda gone: any(g.pid == rank for g in gone))
    assert next(g.exit_code for g in gone if g.pid == rank) == -signal.SIGKILL
    after = members(source.read().processes, before)
    assert [m.rank for m in after if m.role == "rank"] == [0]


def test_a_real_process_in_uninterruptible_sleep(tmp_path: Path) -> None:
    # A parent waits in state D until its vfork child exits.
    source_file, program = tmp_path / "wait.c", tmp_path / "wait"
    source_file.write_text(
        "#include <unistd.h>\nint main(void) { if (vfork() == 0) { sleep(60); _exit(0); } return 0; }\n"
    )
    subprocess.run(["cc", "-w", "-o", program, source_file], check=True)
    popen = subprocess.Popen([program])
    source = ProcessSource(popen.pid)
    reading = until(source.read, lambda r: sorted(process.state for process in r.processes) == ["D", "S"])
    for process in reading.processes:
        os.kill(process.pid, signal.SIGKILL)
    popen.wait()
    assert info(reading, popen.pid).state == "D"
    assert info(reading, popen.pid).wchan is not None


def test_a_real_process_that_reads_from_a_pipe_tells_which() -> None:
    read_end, write_end = os.pipe()
    popen = subprocess.Popen([sys.executable, "-c", f"import os; os.read({read_end}, 1)"], pass_fds=[read_end])
    try:
        source = ProcessSource(popen.pid)
        call = until(lambda: info(source.read(), popen.pid).call, lambda call: call is not None and call.name == "read")
        assert call is not None
        assert (call.fd, call.target) == (read_end, os.readlink(f"/proc/self/fd/{read_end}"))
    finally:
        os.close(write_end)
        os.close(read_end)
        popen.wait()


def test_a_real_process_that_waits_for_an_answer_tells_whose() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port})).recv(1)"
        popen = subprocess.Popen([sys.executable, "-c", code])
        connection, _ = server.accept()
        source = ProcessSource(popen.pid)
        try:
            call = until(
                lambda: info(source.read(), popen.pid).call, lambda call: call is not None and call.peer is not None
            )
            assert call is not None
            assert (call.name, call.peer) == ("recvfrom", f"127.0.0.1:{port}")
        finally:
            connection.close()
            popen.wait()


def test_other_threads_start_children_too() -> None:
    code = (
        "import subprocess, sys, threading, time\n"
        "run = lambda: subprocess.Popen(['sleep', '60'])\n"
        "thread = threading.Thread(target=lambda: (run(), time.sleep(60)))\n"
        "thread.start()\n"
    )
    popen = subprocess.Popen([sys.executable, "-c", code])
    source = ProcessSource(popen.pid)
    reading = until(source.read, lambda r: any(process.comm == "sleep" for process in r.processes))
    for process in reading.processes:
        os.kill(process.pid, signal.SIGKILL)
    popen.wait()
    assert len(reading.processes) == 2


# What is told in files besides /proc


def test_the_last_words_of_a_rank_are_those_of_its_error_file(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    error_file = tmp_path / "error.json"
    proc.put(FakeProcess(21, 20, "python rank.py", env={"RANK": "0", "TORCHELASTIC_ERROR_FILE": str(error_file)}))
    source = ProcessSource(20, str(tmp_path), own_pid=0, deadline_s=PATIENT_S)
    source.read()
    error_file.write_text('{"message": {"message": "ValueError: loss is nan\\nat step 3", "extraInfo": {}}}')
    proc.remove(21)
    for _ in range(2):
        assert [(g.pid, g.exit_code, g.error) for g in source.read().gone] == [
            (21, 1, "ValueError: loss is nan at step 3")
        ]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"message": 3}', '{"message": {"message": []}}', '{"message": ""}'])
def test_an_error_file_that_says_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "error.json"
    file.write_text(text)
    assert last_words(str(file), None) is None
    assert last_words(str(tmp_path / "none.json"), None) is None


def test_a_secret_in_the_last_words_is_masked(tmp_path: Path) -> None:
    file = tmp_path / "error.json"
    file.write_text('{"message": "ConnectionError: postgres://me:hunter22@db/runs refused"}')
    assert last_words(str(file), None) == "ConnectionError: postgres://me:****@db/runs refused"


def test_a_worker_of_ray_train_tells_its_rank_in_its_log(tmp_path: Path) -> None:
    root, log = tmp_path / "proc", tmp_path / "ray-train-sys-worker-018be57f.log"
    log.write_text(
        '{"message": "Setting up process group for: env:// [rank=1, world_size=8]", "component": "worker", '
        '"world_rank": 1, "local_rank": 1, "node_rank": 0}\n'
    )
    root.mkdir()
    worker = {"RAY_JOB_ID": "01000000"}
    proc = FakeProc(
        root,
        [
            FakeProcess(1, 0, "/sbin/init", comm="systemd"),
            FakeProcess(90, 1, "/opt/ray/raylet"),
            FakeProcess(91, 90, "ray::RayTrainWorker", env=worker),
            FakeProcess(92, 90, "ray::RayTrainWorker", env={"RAY_JOB_ID": "02000000"}),
        ],
    )
    (root / "91" / "fd" / "9").symlink_to(log)
    clock = [0.0]
    source = ProcessSource(91, str(root), now=lambda: clock[0], own_pid=0)
    reading = source.read()
    assert [process.pid for process in reading.processes] == [91]
    assert {(m.rank, m.local_rank, m.world_size) for m in members(reading.processes)} == {(1, 1, 8)}
    proc.put(FakeProcess(93, 90, "ray::RayTrainWorker", env=worker))  # the job goes on with a new worker
    clock[0] = 5.0
    assert [process.pid for process in source.read().processes] == [91, 93]


def test_a_title_written_over_the_arguments_loses_its_padding(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    (tmp_path / "22" / "cmdline").write_bytes(b"llm-train rank 0      \0")
    assert info(read(proc, 22), 22).cmdline == ("llm-train rank 0",)


def test_the_cgroup_that_tells_something_is_kept(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, small_job())
    (tmp_path / "22" / "cgroup").write_text("9:memory:/\n4:freezer:/slurm/uid_0/job_12/step_0\n3:cpu,cpuacct:/\n")
    assert info(read(proc, 22), 22).cgroup == "/slurm/uid_0/job_12/step_0"


def test_of_very_many_threads_the_main_one_is_read_at_each_look_and_the_others_now_and_then(tmp_path: Path) -> None:
    code = (
        "import threading, time\n"
        "for _ in range(150): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "print('ready', flush=True)\n"
        "while True: sum(range(1000))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        source = ProcessSource(busy.pid)
        try:
            main_ticks: set[int] = set()
            names: set[tuple[int, ...]] = set()
            ends_s = time.monotonic() + 30
            while len(main_ticks) < 4 and time.monotonic() < ends_s:
                (process,) = [each for each in source.read().processes if each.pid == busy.pid]
                assert len(process.threads) == 151
                main_ticks.add(next(thread.cpu_ticks for thread in process.threads if thread.tid == busy.pid))
                names.add(tuple(thread.tid for thread in process.threads))
                time.sleep(0.05)
        finally:
            busy.kill()
    assert len(main_ticks) == 4 and len(names) == 1
