from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.launch import launcher
from hwtop.job.launch.launcher import program_name
from hwtop.job.launch.root import find_root, orphaned_tops
from hwtop.job.launch.tree import main_launcher, members
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo, ThreadInfo
from tests.parts import replace

SPAWN = "/opt/bin/python|-c|from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)|--multiprocessing-fork"
TRACKER = "/opt/bin/python|-c|from multiprocessing.resource_tracker import main;main(4)"
FORK_SERVER = "/opt/bin/python|-c|from multiprocessing.forkserver import main; main(3, 4, ['__main__'])"


def process(
    pid: int, ppid: int, argv: str, comm: str = "", threads: tuple[str, ...] = (), state: str = "S", **env: str
) -> ProcessInfo:
    """`argv` words are separated by |."""
    words = tuple(argv.split("|")) if argv else ()
    return ProcessInfo(
        pid=pid,
        ppid=ppid,
        comm=comm or (words[0].rsplit("/", 1)[-1][:15] if words else "python"),
        state=state,
        start_ticks=pid,
        user_ticks=0,
        system_ticks=0,
        thread_count=1 + len(threads),
        cmdline=words,
        env=env,
        threads=tuple(ThreadInfo(tid=pid + i, comm=c, state="S", cpu_ticks=0) for i, c in enumerate(threads)),
    )


INIT = process(1, 0, "/sbin/init", comm="systemd")
SSHD = process(50, 1, "sshd: ada@pts/0", comm="sshd")
SHELL = process(60, 50, "-bash", comm="bash")


def rank_env(rank: int, world: int = 2) -> dict[str, Any]:
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world),
        "MASTER_ADDR": "a",
        "MASTER_PORT": "1",
    }


def _env(p: ProcessInfo) -> dict[str, Any]:
    return dict(p.env or {})


def own_launcher_job(parent: int) -> list[ProcessInfo]:
    rank = "/opt/bin/python|-u|rank.py"
    return [
        process(100, parent, "/opt/bin/python|launcher.py"),
        process(101, 100, rank, **rank_env(0)),
        process(102, 100, rank, **rank_env(1)),
        process(111, 101, rank, **rank_env(0)),  # forked
        process(112, 101, SPAWN, **rank_env(0)),
        process(113, 101, TRACKER, **rank_env(0)),
        process(121, 102, rank, **rank_env(1)),
        process(122, 121, "/usr/bin/ffmpeg|-i|x", **rank_env(1)),
    ]


def places(processes: list[ProcessInfo], earlier: tuple[Member, ...] = ()) -> dict[int, tuple[str, int | None]]:
    return {member.pid: (member.role, member.rank) for member in members(processes, earlier)}


def by_pid(processes: list[ProcessInfo]) -> dict[int, ProcessInfo]:
    return {p.pid: p for p in processes}


def roots(processes: list[ProcessInfo], watchers: tuple[int, ...] = ()) -> set[int]:
    everything = by_pid([INIT, SSHD, SHELL, *processes])
    return {find_root(everything, p.pid, watchers) for p in processes}


TORCHRUN = [
    process(100, 60, "/opt/bin/python|/opt/bin/torchrun|--nproc-per-node|2|train.py", comm="pt_elastic"),
    process(101, 100, "/opt/bin/python|-u|train.py", **rank_env(0)),
    process(102, 100, "/opt/bin/python|-u|train.py", **rank_env(1)),
    process(111, 101, "/opt/bin/python|-u|train.py", comm="pt_data_worker", **rank_env(0)),
    process(112, 102, SPAWN, **rank_env(1)),
    process(113, 102, "/opt/bin/python|/opt/torch/_inductor/compile_worker/__main__.py|--workers=4", **rank_env(1)),
    process(114, 113, "/opt/bin/python|/opt/torch/_inductor/compile_worker/__main__.py|--workers=4", **rank_env(1)),
    process(115, 101, "/opt/bin/wandb-core|--port", comm="wandb-core", **rank_env(0)),
]

SPAWNED = [
    process(100, 60, "/opt/bin/python|train.py"),
    process(101, 100, TRACKER),
    process(102, 100, SPAWN, threads=("pt_gloo_runloop",)),
    process(103, 100, SPAWN),  # told by its loader worker
    process(111, 102, SPAWN),
    process(112, 103, SPAWN, comm="pt_data_worker"),
]


@pytest.mark.parametrize(
    ("job", "root"),
    [
        (TORCHRUN, 100),
        (SPAWNED, 100),
        (own_launcher_job(60), 100),
        ([process(90, 60, "/bin/bash|run.sh"), *own_launcher_job(90)], 90),
        ([process(90, 60, "/bin/bash|-c|timeout 9 x"), process(91, 90, "timeout|9"), *own_launcher_job(91)], 90),
    ],
)
def test_the_same_root_from_each_process(job: list[ProcessInfo], root: int) -> None:
    assert roots(job) == {root}


def test_torchrun() -> None:
    assert places(TORCHRUN) == {
        100: ("launcher", None),
        101: ("rank", 0),
        102: ("rank", 1),
        111: ("loader-worker", 0),
        112: ("loader-worker", 1),
        113: ("compile-worker", 1),
        114: ("compile-worker", 1),
        115: ("logger", 0),
    }
    launcher, *others = members(TORCHRUN)
    assert (launcher.launcher_kind, launcher.depth, launcher.run_id) == ("torchrun", 0, "a:1")
    assert [(m.local_rank, m.world_size, m.depth) for m in others if m.role == "rank"] == [(0, 2, 1), (1, 2, 1)]


def test_own_launcher_with_forked_and_spawned_workers() -> None:
    assert places(own_launcher_job(60)) == {
        100: ("launcher", None),
        101: ("rank", 0),
        102: ("rank", 1),
        111: ("loader-worker", 0),
        112: ("loader-worker", 0),
        113: ("resource-tracker", 0),
        121: ("loader-worker", 1),
        122: ("other", 1),
    }


def test_multiprocessing_spawn_numbers_ranks_by_start_and_keeps_the_numbers() -> None:
    assert places(SPAWNED) == {
        100: ("launcher", None),
        101: ("resource-tracker", None),
        102: ("rank", 0),
        103: ("rank", 1),
        111: ("loader-worker", 0),
        112: ("loader-worker", 1),
    }
    before = members(SPAWNED)
    without_first = [p for p in SPAWNED if p.pid not in (102, 111)]
    after = {m.pid: m for m in members(without_first, before)}
    assert (after[103].rank, after[103].world_size, after[112].rank) == (1, 2, 1)
    none_left = [p for p in SPAWNED if p.pid in (100, 101)]
    assert places(none_left, before)[100] == ("launcher", None)


@pytest.mark.parametrize("worker_comm", ["pt_data_worker", "python"])
def test_plain_python_with_spawned_workers_is_one_rank(worker_comm: str) -> None:
    job = [
        process(100, 60, "/opt/bin/python|train.py"),
        process(101, 100, TRACKER),
        process(102, 100, SPAWN, comm=worker_comm),
        process(103, 100, SPAWN, comm=worker_comm),
    ]
    assert roots(job) == {100}
    assert places(job) == {
        100: ("rank", 0),
        101: ("resource-tracker", 0),
        102: ("loader-worker", 0),
        103: ("loader-worker", 0),
    }


def test_fork_server_is_no_worker_but_its_children_are() -> None:
    job = [
        process(100, 60, "/opt/bin/python|train.py"),
        process(101, 100, FORK_SERVER),
        process(102, 101, FORK_SERVER),
    ]
    assert roots(job) == {100}
    assert places(job) == {100: ("rank", 0), 101: ("other", 0), 102: ("loader-worker", 0)}


def test_mpi_below_a_shell_script() -> None:
    job = [
        process(90, 60, "/bin/bash|./go.sh"),
        process(100, 90, "/usr/bin/mpirun|-np|2|python|t.py"),
        process(101, 100, "python|t.py", OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2"),
        process(102, 100, "./a.out", OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2"),
    ]
    assert roots(job) == {90}
    assert places(job) == {90: ("wrapper", None), 100: ("launcher", None), 101: ("rank", 0), 102: ("rank", 1)}


def test_srun_tasks_are_numbered_by_slurm_and_torchrun_below_it_by_itself() -> None:
    step = process(80, 1, "slurmstepd: [12.0]", comm="slurmstepd")
    tasks = [
        process(81 + i, 80, "python|t.py", SLURM_PROCID=str(i), SLURM_NTASKS="2", SLURM_STEP_ID="0") for i in range(2)
    ]
    assert roots([step, *tasks]) == {80}
    assert places([step, *tasks]) == {80: ("launcher", None), 81: ("rank", 0), 82: ("rank", 1)}
    torchrun = process(81, 80, "python|/x/torchrun|t.py", SLURM_PROCID="0", SLURM_STEP_ID="0")
    ranks = [
        process(91 + i, 81, "python|-u|t.py", SLURM_PROCID="0", SLURM_STEP_ID="0", **rank_env(i)) for i in range(2)
    ]
    assert roots([step, torchrun, *ranks]) == {80}
    assert places([step, torchrun, *ranks])[92] == ("rank", 1)


def test_a_script_that_starts_ranks_is_their_root() -> None:
    job = [
        process(90, 60, "/bin/sh|run.sh"),
        process(91, 90, "python|t.py", **rank_env(0)),
        process(92, 90, "python|t.py", **rank_env(1)),
    ]
    assert roots(job) == {90}
    assert places(job) == {90: ("wrapper", None), 91: ("rank", 0), 92: ("rank", 1)}


def test_a_script_that_starts_two_jobs_is_not() -> None:
    script = process(90, 60, "/bin/bash|sweep.sh")
    jobs = [process(91, 90, "python|a.py"), process(92, 90, "python|b.py"), process(93, 90, "sleep|9")]
    everything = by_pid([INIT, SSHD, SHELL, script, *jobs])
    assert [find_root(everything, pid) for pid in (91, 92)] == [91, 92]


def test_a_program_that_starts_launchers_and_single_ranks_serves_several_jobs() -> None:
    sweep = process(90, 60, "/opt/bin/python|sweep.py")
    one = process(91, 90, "/opt/bin/python|train.py", RANK="0", WORLD_SIZE="2")
    other = process(92, 90, "/opt/bin/torchrun|train.py")
    rank = process(93, 92, "/opt/bin/python|train.py", RANK="1", WORLD_SIZE="2")
    everything = by_pid([INIT, SSHD, SHELL, sweep, one, other, rank])
    assert [find_root(everything, pid) for pid in (91, 92, 93)] == [91, 92, 92]


@pytest.mark.parametrize(
    "runner",
    [
        "/opt/bin/python|-m|pytest|tests",
        "/opt/bin/python|-u|-c|import sys;exec(eval(sys.stdin.readline()))",
        "[pytest-xdist running] tests/test_train.py::test_one_step",
    ],
)
def test_a_test_runner_is_no_launcher_of_the_rank_that_it_starts(runner: str) -> None:
    tests = process(90, 60, runner, comm="python")
    rank = process(91, 90, "/opt/bin/python|train.py", RANK="0", WORLD_SIZE="1")
    tool = process(92, 90, "sleep|300")
    everything = by_pid([INIT, SSHD, SHELL, tests, rank, tool])
    assert [find_root(everything, pid) for pid in (91, 92)] == [91, 92]


@pytest.mark.parametrize(
    "parent",
    [
        "-zsh",
        "bash",
        "bash|--init-file|/x/shellIntegration-bash.sh",
        "tmux: server",
        "/opt/bin/python|-m|pytest|tests",
        "/opt/bin/python|server.py",
        "/usr/sbin/cron|-f",
        "/opt/node|server.js",
        "/opt/unknown",
    ],
)
def test_the_job_ends_below_sessions_and_unrelated_parents(parent: str) -> None:
    assert roots([p if p.pid != 100 else process(100, 99, "python|/x/torchrun|t.py") for p in TORCHRUN]) == {100}
    above = process(99, 60, parent)
    job = [process(100, 99, "python|/x/torchrun|t.py"), *TORCHRUN[1:]]
    everything = by_pid([INIT, SSHD, SHELL, above, *job])
    assert {find_root(everything, p.pid) for p in job} == {100}


def test_a_script_that_also_started_the_monitor_is_a_session() -> None:
    job = [process(90, 60, "/bin/bash|run.sh"), process(91, 90, "python|t.py"), process(95, 90, "python|/x/hwtop|91")]
    everything = by_pid([INIT, SSHD, SHELL, *job])
    assert find_root(everything, 91, watchers=(95, 90, 60, 50, 1)) == 91


def test_lightning_rank_zero_starts_the_others_with_its_own_command_line() -> None:
    job = [
        process(100, 60, "python|train.py"),
        process(101, 100, "python|train.py", LOCAL_RANK="1", NODE_RANK="0", WORLD_SIZE="2"),
        process(102, 101, "python|train.py", LOCAL_RANK="1", NODE_RANK="0", WORLD_SIZE="2"),
    ]
    assert roots(job) == {100}
    assert places(job) == {100: ("rank", 0), 101: ("rank", 1), 102: ("loader-worker", 1)}


def test_lightning_writes_the_path_of_its_script_in_full() -> None:
    job = [
        replace(process(100, 60, "python|train.py|--x"), cwd="/home/ada"),
        process(101, 100, "/opt/bin/python|/home/ada/train.py|--x|hydra.run.dir=a", LOCAL_RANK="1", WORLD_SIZE="2"),
        process(102, 100, "python|train.py|--x", comm="pt_data_worker"),
    ]
    assert places(job) == {100: ("rank", 0), 101: ("rank", 1), 102: ("loader-worker", 0)}
    assert [m.local_rank for m in members(job) if m.role == "rank"] == [0, 1]


def test_horovodrun_starts_each_rank_through_a_spawned_middleman_and_a_shell() -> None:
    # horovod/runner/common/util/safe_shell_exec.py: ctx.Process(target=_exec_middleman), Popen(command, shell=True)
    job = [
        process(100, 60, "/opt/bin/python|/opt/bin/horovodrun|-np|2|python|t.py"),
        process(101, 100, TRACKER),
        *(process(110 + i, 100, SPAWN) for i in range(2)),
        *(process(120 + i, 110 + i, "/bin/sh|-c|HOROVOD_RANK=0 HOROVOD_SIZE=2 python t.py") for i in range(2)),
        *(process(130 + i, 120 + i, "python|t.py", HOROVOD_RANK=str(i), HOROVOD_SIZE="2") for i in range(2)),
    ]
    assert roots(job) == {100}
    found = members(job)
    assert {(m.pid, m.rank, m.world_size) for m in found if m.role == "rank"} == {(130, 0, 2), (131, 1, 2)}
    assert {m.launcher_kind for m in found if m.role == "launcher"} == {"horovodrun"}


def test_the_training_beside_a_server_that_the_same_script_started() -> None:
    server = replace(process(101, 100, "python|serve_blobs.py"), rss_bytes=20 << 20)
    training = replace(process(102, 100, "python|train.py"), rss_bytes=400 << 20)
    job = [process(100, 60, "bash|office.sh"), server, training]
    assert {pid: role for pid, (role, _) in places(job).items() if role == "rank"} == {102: "rank"}
    backward = (ThreadInfo(tid=101, comm="pt_autograd_0", state="S", cpu_ticks=0),)
    job[1] = replace(server, threads=backward)  # it trains, whatever it is called
    assert {pid: role for pid, (role, _) in places(job).items() if role == "rank"} == {101: "rank"}


def test_conda_run() -> None:
    # conda/cli/main_run.py: a script in a temporary file, run by the shell
    job = [
        process(100, 60, "/opt/conda/bin/python|/opt/conda/bin/conda|run|-n|llm|python|t.py"),
        process(101, 100, "/bin/bash|/tmp/tmpx1"),
        process(102, 101, "python|t.py"),
    ]
    assert roots(job) == {100}
    assert places(job) == {100: ("wrapper", None), 101: ("wrapper", None), 102: ("rank", 0)}


def test_ray_train_in_a_cluster_of_its_own_and_in_one_that_was_there() -> None:
    def ray(pid: int, title: str, **env: Any) -> ProcessInfo:
        return replace(process(pid, 90, f"ray::{title}", RAY_JOB_ID="01000000", **env), exe="/opt/bin/python3.12")

    workers = [
        ray(101, "TrainController.run"),
        ray(102, "_AutoscalingCoordinatorActor"),
        ray(103, "RayTrainWorker", RANK="1", WORLD_SIZE="2"),
        ray(104, "RayTrainWorker", RANK="0", WORLD_SIZE="2"),
        process(105, 104, "ray::RayTrainWorker", comm="pt_data_worker"),
    ]
    driver, raylet = process(80, 60, "python|fit.py"), process(90, 80, "/opt/ray/raylet|--x")
    server = process(81, 80, "/opt/bin/python|-u|/opt/ray/dashboard.py")
    assert roots([driver, raylet, server, *workers]) == {80}
    expected = {103: ("rank", 1), 104: ("rank", 0), 105: ("loader-worker", 0)}
    found = places([driver, raylet, server, *workers])
    assert {pid: place for pid, place in found.items() if place[0] in ("rank", "loader-worker")} == expected
    assert {pid for pid, place in found.items() if place[0] == "launcher"} == {80, 101}
    raylet, node = process(90, 1, "/opt/ray/raylet|--x"), [p for p in workers if p.pid != 105]
    everything = by_pid([INIT, raylet, *node, process(106, 90, "ray::RayTrainWorker", RAY_JOB_ID="02000000")])
    assert orphaned_tops(everything, find_root(everything, 104)) == (101, 102, 103, 104)
    assert {pid: place for pid, place in places([driver, *workers]).items() if place[0] == "rank"} == {
        103: ("rank", 1),
        104: ("rank", 0),
    }


def test_actors_of_ray_that_take_part_in_collectives_are_ranks() -> None:
    job = [
        process(80, 60, "python|ppo.py"),
        process(90, 80, "/opt/ray/raylet|--x"),
        *(process(101 + i, 90, "ray::WorkerDict.update", threads=("pt_nccl_watchdg",)) for i in range(2)),
        process(103, 90, "ray::RewardManager"),
        process(104, 90, "ray::IDLE"),
    ]
    found = places(job)
    assert [pid for pid, place in found.items() if place[0] == "rank"] == [101, 102]


def test_a_driver_whose_actors_only_help_it_is_the_rank() -> None:
    """It samples with actors and learns itself, or waits for what they return."""
    driver, raylet = process(80, 60, "python|es.py"), process(90, 80, "/opt/ray/raylet|--x")
    idle, plot = process(101, 90, "ray::IDLE"), process(102, 90, "ray::Plot.grow")
    assert places([driver, raylet, idle])[80][0] == "launcher", "nothing is known of its actors yet"
    found = places([driver, raylet, idle, plot])
    assert found == {80: ("rank", 0), 90: ("wrapper", None), 101: ("other", None), 102: ("other", 0)}, (
        "Ray's own help nobody"
    )
    learner = process(103, 90, "ray::Learner.update", threads=("pt_gloo_runloop",))
    assert places([driver, raylet, idle, plot, learner])[80][0] == "launcher"


def test_a_rank_that_a_task_of_ray_starts_in_a_cluster_of_others() -> None:
    def task(pid: int, raylet: int) -> ProcessInfo:
        return replace(process(pid, raylet, "ray::train", RAY_JOB_ID="ffffffff"), exe="/opt/bin/python3.12")

    cluster = [process(80, 60, "python|cluster.py"), *(process(pid, 80, "/opt/ray/raylet|--x") for pid in (90, 91))]
    ranks = [process(111 + i, 101 + i, "python|t.py", **rank_env(i)) for i in range(2)]
    everything = by_pid([*cluster, task(101, 90), task(102, 91), *ranks])
    assert [find_root(everything, rank.pid) for rank in ranks] == [101, 102], "a node's share of the job"
    found = places([process(80, 60, "python|t.py"), process(90, 80, "/opt/ray/raylet|--x"), task(101, 90), ranks[0]])
    assert (found[101], found[111]) == (("launcher", None), ("rank", 0))


def test_an_own_launcher_below_srun() -> None:
    slurm: dict[str, Any] = {"SLURM_PROCID": "0", "SLURM_STEP_ID": "0"}
    job = [
        process(80, 1, "slurmstepd: [12.0]", comm="slurmstepd"),
        process(81, 80, "python|launch.py", **slurm),
        *(process(91 + i, 81, "python|t.py", **slurm, **rank_env(i)) for i in range(2)),
    ]
    assert places(job) == {80: ("launcher", None), 81: ("launcher", None), 91: ("rank", 0), 92: ("rank", 1)}
    launcher = main_launcher(members(job))
    assert launcher is not None
    assert launcher.pid == 81


def test_ranks_whose_environments_may_not_be_read() -> None:
    def unread(pid: int, ppid: int, argv: str) -> ProcessInfo:
        return replace(process(pid, ppid, argv), env=None, missing={"env": "permission denied"})

    job = [unread(100, 60, "python|launch.py"), *(unread(101 + i, 100, f"python|t.py|--shard={i}") for i in range(2))]
    assert roots(job) == {100}
    assert places(job) == {100: ("launcher", None), 101: ("rank", 0), 102: ("rank", 1)}
    alone = [unread(100, 60, "python|train.py"), unread(101, 100, "python|eval.py"), unread(102, 100, TRACKER)]
    assert places(alone)[100] == ("rank", 0)
    assert places(alone)[101] == ("other", 0)


def test_the_parents_stack_tells_spawned_ranks_from_loader_workers() -> None:
    job = [process(100, 60, "python|train.py"), *(process(101 + i, 100, SPAWN) for i in range(2))]
    before = members(job)
    assert [m.role for m in before] == ["rank", "loader-worker", "loader-worker"]
    after = members(job, before, {100})
    assert [(m.role, m.rank, m.local_rank) for m in after[1:]] == [("rank", 0, 0), ("rank", 1, 1)]


def test_new_ranks_in_the_place_of_dead_ones_take_their_numbers() -> None:
    torchrun = process(100, 60, "python|/opt/bin/torchrun|t.py", comm="pt_elastic")
    untold = [replace(process(pid, 100, "llm rank"), exe="/opt/bin/python") for pid in (101, 102)]
    before = members([torchrun, *untold])
    anew = [replace(process(pid, 100, "llm rank"), exe="/opt/bin/python") for pid in (201, 202)]
    assert [m.rank for m in members([torchrun, *anew], before) if m.role == "rank"] == [0, 1]


def test_ranks_and_workers_that_lost_their_parent_keep_their_place() -> None:
    before_job = own_launcher_job(60)
    before = members(before_job)
    # The launcher dies: ranks go to init.
    ranks_alone = [process(p.pid, 1, "|".join(p.cmdline or ()), **_env(p)) for p in before_job[1:3]]
    rest = before_job[3:]
    expected = {pid: place for pid, place in places(before_job).items() if pid != 100}
    assert places([*ranks_alone, *rest], before) == expected
    assert places([*ranks_alone, *rest]) == expected
    # Rank 1 dies: its forked worker goes to init and is not taken for the rank.
    worker_alone = process(121, 1, "/opt/bin/python|-u|rank.py", **rank_env(1))
    left = [p for p in before_job if p.pid not in (102, 121)]
    assert places([*left, worker_alone], before)[121] == ("loader-worker", 1)
    assert places([*left, worker_alone])[121] == ("loader-worker", 1)
    shown = {member.pid: member.depth for member in members([*left, worker_alone], before)}
    assert shown[121] == shown[101], "not as if it were rank 0's"


def test_a_child_that_had_ended_before_hwtop_came_is_a_rank_where_the_others_are() -> None:
    main = process(100, 60, "/opt/bin/python|train.py")
    left, dead, tracker = process(102, 100, SPAWN), process(103, 100, "", state="Z"), process(101, 100, TRACKER)
    ranks = [(m.pid, m.rank) for m in members([main, tracker, left, dead], (), {100}) if m.role == "rank"]
    assert ranks == [(102, 0), (103, 1)]
    assert [m.pid for m in members([main, tracker, left, dead]) if m.role == "rank"] == [100], "it may train itself"


def test_orphaned_ranks_find_each_other() -> None:
    ranks = [process(101 + i, 1, "python|-u|t.py", **rank_env(i)) for i in range(2)]
    other = process(201, 1, "python|-u|t.py", **(rank_env(1) | {"MASTER_PORT": "2"}))
    everything = by_pid([INIT, *ranks, other])
    assert [orphaned_tops(everything, pid) for pid in (101, 102, 201)] == [(101, 102), (101, 102), (201,)]


def test_a_zombie_rank_that_tells_nothing_is_still_a_rank() -> None:
    job = [*TORCHRUN[:2], process(102, 100, "", comm="python", state="Z")]
    assert places(job)[102] == ("rank", 1)


def test_a_program_in_another_language_is_the_rank_where_the_user_named_it() -> None:
    job = [process(100, 60, "bash|run.sh"), process(101, 100, "./train_gpt2"), process(102, 101, "./child")]
    assert find_root(by_pid([INIT, SSHD, SHELL, *job]), 101) == 100
    assert {m.pid: m.role for m in members(job, named=101)} == {100: "wrapper", 101: "rank", 102: "other"}
    assert {m.pid: m.role for m in members(job, named=100)} == {100: "wrapper", 101: "other", 102: "other"}
    with_python = [*job, process(103, 100, "python|train.py")]
    assert [m.pid for m in members(with_python, named=101) if m.role == "rank"] == [103]


def test_no_processes_no_members() -> None:
    assert members([]) == ()


@pytest.mark.parametrize("env", [{}, {"WORLD_SIZE": "9"}], ids=["forked", "spawned"])
@pytest.mark.parametrize("missing", [{}, {"env": "permission denied"}], ids=["read", "unread"])
def test_the_work_grows_with_the_processes_and_not_with_their_square(
    env: dict[str, Any], missing: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def calls(count: int) -> int:
        job = [process(10, 1, "python|pool.py"), *(process(100 + n, 10, "python|pool.py", **env) for n in range(count))]
        asked = 0

        def counting(one: ProcessInfo) -> str:
            nonlocal asked
            asked += 1
            return program_name(one)

        monkeypatch.setattr(launcher, "program_name", counting)
        assert len(members([replace(each, missing=missing) for each in job])) == count + 1
        return asked

    assert calls(200) < 2.2 * calls(100)


def test_two_processes_with_one_pid_are_placed_once() -> None:
    assert [m.pid for m in members([process(10, 1, "python|a.py"), process(10, 10, "python|a.py")])] == [10]


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ((14, ()), (340, ()), {10: ("launcher", None), 11: ("rank", 0)}),  # it only calls the training
        ((300, ()), (340, ()), {10: ("rank", 0), 11: ("other", 0)}),  # a tool of the training
        ((14, ("pt_autograd_0",)), (340, ()), {10: ("rank", 0), 11: ("other", 0)}),  # it trains itself
    ],
)
def test_a_program_that_has_loaded_nothing_is_not_the_training_that_it_started(
    parent: tuple[int, tuple[str, ...]], child: tuple[int, tuple[str, ...]], expected: dict[int, tuple[str, int | None]]
) -> None:
    agent = replace(process(10, 1, "python|agent.py", threads=parent[1]), rss_bytes=parent[0] << 20)
    train = replace(process(11, 10, "python|train.py", threads=child[1]), rss_bytes=child[0] << 20)
    assert places([agent, train]) == expected


def test_a_child_by_multiprocessing_serves_whoever_is_larger() -> None:
    parent = replace(process(10, 1, "python|train.py"), rss_bytes=14 << 20)
    child = replace(process(11, 10, "python|train.py"), rss_bytes=340 << 20)
    assert places([parent, child])[10] == ("rank", 0)


def test_a_launcher_of_ones_own_that_names_ranks_in_words_of_its_own() -> None:
    def started(pid: int, command: str, mib: int) -> ProcessInfo:
        return replace(process(pid, 10, command), rss_bytes=mib << 20)

    launcher = replace(process(10, 1, "python|launch.py"), rss_bytes=14 << 20)
    ranks = [started(11 + number, f"python|fit.py|--part|{number}", 340) for number in range(3)]
    assert places([launcher, *ranks]) == {10: ("launcher", None), 11: ("rank", 0), 12: ("rank", 1), 13: ("rank", 2)}
    other = started(14, "python|serve.py", 340)
    assert places([launcher, *ranks, other])[10] == ("rank", 0), "two programs are not the ranks of one job"
    assert places([launcher, *(replace(each, rss_bytes=20 << 20) for each in ranks)])[10] == ("rank", 0), (
        "small helpers"
    )
