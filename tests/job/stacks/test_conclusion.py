from __future__ import annotations

from hwtop.job.stacks.conclusion import conclusion, workers_do
from hwtop.model.job import Job
from hwtop.model.rank import DataFile, Rank, Worker
from hwtop.model.stack import StackFrame
from tests.parts import job_of, rank_of
from tests.stack_jobs import grouped, stack

REDUCE = stack("all_reduce torch/distributed/distributed_c10d.py 3252", "step train.py 231", "main train.py 40")
DATA = stack("_try_get_data torch/utils/data/dataloader.py 1291", "main train.py 38")
NFS = DataFile(path="/data/shard-17.tar", mount_point="/data", fs_type="nfs")
DECODE = StackFrame(name="decode", filename="/home/ana/data.py", short_filename="data.py", line=12)


def worker(state: str = "S", **fields: object) -> Worker:
    given = {"wchan": None, "leaf": None, "file": None, **fields}
    return Worker(pid=2000, state=state, cpu_pct=0.0, rss_bytes=None, read_bytes_per_s=None, **given)  # type: ignore[arg-type]


def job(*workers: Worker) -> Job:
    ranks = tuple(
        rank_of(rank=number, pid=1000 + number, is_alive=True, os_state="S", workers=workers if number == 7 else ())
        for number in range(8)
    )
    groups = grouped({**dict.fromkeys(range(7), REDUCE), 7: DATA})
    return job_of(target_pid=1, launcher=None, world_size=8, ranks=ranks, processes=(), stack_groups=groups)


def test_the_sentence_that_people_want() -> None:
    stuck = worker("D", wchan="nfs_wait_bit_killable", file=NFS)
    assert conclusion(job(stuck, stuck, stuck, stuck)) == (
        "ranks 0-6 wait in all_reduce (train.py:231 step), rank 7 is in _try_get_data (train.py:38 main): "
        "its 4 workers are in D state (nfs_wait_bit_killable) on /data (nfs)"
    )


def test_a_rank_without_workers_has_nothing_to_add() -> None:
    assert conclusion(job()).endswith("rank 7 is in _try_get_data (train.py:38 main)")


def test_what_most_workers_do() -> None:
    assert workers_do([worker("R", leaf=DECODE)] * 2, "its") == "its 2 workers are in decode (data.py:12)"
    assert workers_do([worker("R", leaf=DECODE)], "its") == "its 1 worker is in decode (data.py:12)"
    assert workers_do([worker("D"), worker("D"), worker()], "their") == "2 of their 3 workers are in D state"
    assert workers_do([worker("D", file=DataFile(path="/x/y"))], "its") == "its 1 worker is in D state on /x/y"
    assert workers_do([worker("T")] * 3, "its") == "its 3 workers are stopped"
    assert workers_do([worker("R")], "its") == "its 1 worker is running"
    assert workers_do([], "its") == ""


def test_workers_without_work_are_not_the_story() -> None:
    idle = worker(
        leaf=StackFrame(
            name="_worker_loop",
            filename="/site-packages/torch/utils/data/_utils/worker.py",
            short_filename="torch/utils/data/_utils/worker.py",
            line=0,
        )
    )
    assert workers_do([idle, worker(leaf=DECODE), idle], "its") == "1 of its 3 workers is in decode (data.py:12)"
    assert workers_do([idle, idle], "its") == "its 2 workers wait for work"


def test_without_stacks_the_kernel_says_what_ranks_wait_for() -> None:
    def unread(*ranks: Rank) -> Job:
        return job_of(target_pid=1, launcher=None, world_size=len(ranks), ranks=ranks, processes=())

    locked = [rank_of(rank=each, pid=each, is_alive=True, os_state="S", wchan="futex_do_wait") for each in (0, 1)]
    assert conclusion(unread(*locked)) == "ranks 0-1 wait for another thread, or a lock (futex); no stack could be read"
    runs = rank_of(rank=2, pid=2, is_alive=True, os_state="R")
    assert conclusion(unread(*locked, runs)) == "no stack could be read"
