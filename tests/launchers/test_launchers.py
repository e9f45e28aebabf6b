from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hwtop.collectors.process.source import ProcessSource, check_target
from hwtop.errors import UsageError
from hwtop.feed.watch import watch
from hwtop.job.launch.tree import main_launcher, members
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.member import Member
from tests.launchers.launched import Launched

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(900),
]  # the first test waits for its job, which all others slow down

RANK = ("PYTHON", "SCRIPTS/rank.py", "ROSTER")
TORCHRUN = ("BIN/torchrun", "--standalone", "--nproc-per-node", "2")
AS_ROOT = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc") + (
    () if os.geteuid() == 0 else ("--user", "--map-root-user")
)


@dataclass(frozen=True)
class Case:
    """How a job is started, and what hwtop must say of it."""

    command: tuple[str, ...]
    kind: str | None
    """Of the launcher; None where rank 0 is the process that was started."""
    world_size: int = 2
    ranks: int = 2
    env: dict[str, str] = field(default_factory=dict)


def shell(*lines: str) -> tuple[str, ...]:
    return ("bash", "-c", "\n".join(lines))


JAX = "JAX_NUM_PROCESSES=2 JAX_COORDINATOR_ADDRESS=127.0.0.1:1234"
CASES = {
    "ray": Case(("PYTHON", "SCRIPTS/ray_fit.py", "ROSTER"), "ray"),
    "lightning": Case(("PYTHON", "SCRIPTS/lightning_fit.py", "ROSTER"), None),
    "deepspeed": Case(
        ("BIN/deepspeed", "--num_gpus", "2", "--master_port", "PORT", "SCRIPTS/rank.py", "ROSTER", "RANK"),
        "deepspeed",
        env={"DS_ACCELERATOR": "cpu", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    ),
    "accelerate": Case(
        (
            *("BIN/accelerate", "launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"),
            *("--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "PORT"),
            *("SCRIPTS/rank.py", "ROSTER", "RANK"),
        ),
        "accelerate",
    ),
    "torchrun with titles": Case((*TORCHRUN, "SCRIPTS/titled.py", "ROSTER"), "torchrun"),
    "PID namespace": Case((*NAMESPACE, *TORCHRUN, "SCRIPTS/rank.py", "ROSTER", "RANK"), "torchrun"),
    "Open MPI": Case(
        ("mpirun.openmpi", *AS_ROOT, "--oversubscribe", "-np", "2", *RANK, "OMPI_COMM_WORLD_RANK"),
        "mpirun",
    ),
    "Open MPI in shells": Case(
        shell(
            f"timeout 1800 mpirun.openmpi {' '.join(AS_ROOT)} --oversubscribe -np 2 "
            f"bash -c 'nohup {' '.join(RANK)} OMPI_COMM_WORLD_RANK; true'; true"
        ),
        "mpirun",
    ),
    "MPICH": Case(("mpiexec.hydra", "-n", "2", *RANK, "PMI_RANK"), "mpirun"),
    "JAX": Case(
        shell(*(f"{JAX} JAX_PROCESS_ID={i} {' '.join(RANK)} JAX_PROCESS_ID &" for i in range(2)), "wait"), "bash"
    ),
    "plain python in wrappers": Case(
        shell(f"timeout 1800 nohup env X=1 {' '.join(RANK)} NONE; true"), "", world_size=1, ranks=1
    ),
}


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def multi_node(node: int, port: str) -> tuple[str, ...]:
    where = ("--master-addr", "127.0.0.1", "--master-port", port)
    return ("BIN/torchrun", "--nnodes", "2", "--node-rank", str(node), "--nproc-per-node", "2", *where)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Launched]]:
    """All of them at once: most of their time is waiting."""
    folder = tmp_path_factory.mktemp("launchers")
    started: dict[str, Launched] = {}

    def start(name: str, command: tuple[str, ...], count: int, env: dict[str, str]) -> None:
        filled = [word.replace("PORT", free_port()) if word == "PORT" else word for word in command]
        started[name] = Launched(filled, folder / re.sub(r"\W", "-", name), count, env)

    try:
        for name, case in CASES.items():
            start(name, case.command, case.ranks, case.env)
        port = free_port()
        for node in (0, 1):
            start(f"node {node}", (*multi_node(node, port), "SCRIPTS/rank.py", "ROSTER", "RANK"), 2, {})
        start("mp.spawn", ("PYTHON", "SCRIPTS/spawned.py", "ROSTER"), 2, {})
        start("notebook", ("PYTHON", "SCRIPTS/notebook.py", "ROSTER"), 2, {})
        logs = folder / "attempts"
        fails = (*TORCHRUN, "--max-restarts", "1", "--redirects", "3", "--log-dir", str(logs), "SCRIPTS/fails.py")
        start("restart", (*fails, str(folder)), 0, {})
        yield started
    finally:
        for job in started.values():
            job.stop()


def of_role(found: tuple[Member, ...], role: str) -> set[tuple[int | None, int]]:
    return {(member.rank, member.pid) for member in found if member.role == role}


def outside(job: Launched) -> set[tuple[int, int]]:
    """What ranks in a PID namespace of their own tell, with their PIDs out here."""
    job.ranks()
    pids = {process.ns_pids[-1]: process.pid for process in job.reading().processes if len(process.ns_pids) > 1}
    return {(rank, pids[pid]) for rank, pid in job.reported()}


@pytest.mark.parametrize("name", CASES)
def test_ranks_and_launcher_from_each_process(jobs: dict[str, Launched], name: str) -> None:
    job, case = jobs[name], CASES[name]
    reported = outside(job) if name == "PID namespace" else job.ranks()
    for pid in {job.pid, *(pid for _, pid in reported)}:
        reading = ProcessSource(pid).read()
        found = members(reading.processes)
        assert of_role(found, "rank") == reported
        assert {m.local_rank for m in found if m.role == "rank"} == set(range(len(reported)))
        assert max(m.world_size or 0 for m in found) == case.world_size
        launcher = main_launcher(found)
        assert (launcher.launcher_kind if launcher else None) == (case.kind or None) or case.kind == "bash"
        if case.kind is None:
            assert (0, job.pid) in reported


def frame_where(pid: int, holds: Callable[[Job], bool], seconds: float = 60.0) -> tuple[Frame, Job]:
    """The first frame whose job satisfies the condition."""
    for frame in watch(pid, seconds=seconds, interval_s=0.3):
        job = frame.derived.job
        if job is not None and holds(job):
            return frame, job
    raise AssertionError(f"never held; ranks: {[] if job is None else job.ranks}")


def ranks_of(job: Job) -> set[tuple[int, int]]:
    return {(rank.rank, rank.pid) for rank in job.ranks}


@pytest.mark.parametrize("node", [0, 1])
def test_two_nodes_of_torchrun_say_what_is_not_here(jobs: dict[str, Launched], node: int) -> None:
    job = jobs[f"node {node}"]
    reported = job.ranks()
    frame, seen = frame_where(job.pid, lambda job: len(job.ranks) == 2)
    assert ranks_of(seen) == reported
    assert {rank for rank, _ in reported} == {2 * node, 2 * node + 1}
    assert (seen.world_size, [rank.local_rank for rank in seen.ranks]) == (4, [0, 1])
    assert "2 of 4 ranks are visible on this machine" in [spot.reason for spot in frame.blind]


@pytest.mark.parametrize("name", ["mp.spawn", "notebook"])
def test_ranks_that_look_like_loader_workers_are_told_by_their_parents_stack(
    jobs: dict[str, Launched], name: str
) -> None:
    job = jobs[name]
    reported = job.ranks()
    _, seen = frame_where(min(pid for _, pid in reported), lambda job: ranks_of(job) == reported)
    assert seen.launcher is not None
    assert seen.launcher.kind == "mp.spawn"


def test_a_restart_is_followed_and_the_end_is_told(jobs: dict[str, Launched]) -> None:
    job = jobs["restart"]
    folder = job.folder.parent
    first: set[int] = set()
    for frame in watch(job.pid, seconds=90, interval_s=0.3):
        seen = frame.derived.job
        if seen is None:
            continue
        ranks = {rank.rank: rank for rank in seen.ranks}
        logs = [rank.log.path or "" for rank in seen.ranks]
        if seen.restarts == 0 and len(ranks) == 2 and all("attempt_0" in log for log in logs):
            first = {rank.pid for rank in seen.ranks}
            (folder / "fail-0").touch()
        is_anew = seen.restarts == 1 and not first & {rank.pid for rank in seen.ranks}
        if is_anew and all("attempt_1" in log for log in logs) and not (folder / "fail-1").exists():
            assert all(rank.is_alive for rank in seen.ranks)
            assert sorted(ranks) == [0, 1]
            (folder / "fail-1").touch()
    assert (folder / "fail-1").exists(), "the restart was never seen"
    assert seen is not None
    assert seen.has_ended
    assert (ranks[1].exit_code, ranks[1].log.last_line) == (1, "ValueError: loss is nan in attempt 1")
    assert ranks[0].exit_code == -15
    # its exit code, or the exception in its log: whichever was read first
    reported = "\n".join(map(str, (*frame.findings, *seen.logs.events)))
    assert "rank 1" in frame.verdict.text.lower(), reported


def test_pid_that_was_read_inside_a_container(jobs: dict[str, Launched]) -> None:
    job = jobs["PID namespace"]
    _, pid = min(outside(job))
    _, inside = min(job.reported())
    _, seen = frame_where(pid, lambda job: len(job.ranks) == 2)
    assert seen.place is not None
    assert seen.place.pid_namespace_pid == inside
    if not os.path.exists(f"/proc/{inside}/exe"):  # it may be the number of another process out here
        with pytest.raises(UsageError, match=f"of a container it is .*{pid}"):
            check_target(inside)
