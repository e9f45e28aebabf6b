from __future__ import annotations

import pytest

from hwtop.job.launch.environment import (
    job_key,
    kept,
    local_rank_of,
    local_world_size_of,
    rank_of,
    restarts_of,
    world_size_of,
)


def test_keeps_ranks_and_switches_and_no_secret() -> None:
    environ = (
        b"RANK=3\0WORLD_SIZE=8\0MASTER_ADDR=10.0.0.1\0NCCL_DEBUG=INFO\0OMP_NUM_THREADS=1\0"
        b"HF_TOKEN=hf_x\0AWS_SECRET_ACCESS_KEY=y\0SLURM_JWT=z\0MASTER_PASSWORD=q\0WANDB_API_KEY=w\0NCCL_AUTH_TOKEN=t\0"
    )
    assert kept(environ) == {
        "RANK": "3",
        "WORLD_SIZE": "8",
        "MASTER_ADDR": "10.0.0.1",
        "NCCL_DEBUG": "INFO",
        "OMP_NUM_THREADS": "1",
    }


def test_a_process_title_written_over_the_environment_costs_only_its_part() -> None:
    assert kept(b"ray::train \xff\0K=1\0\0LOCAL_RANK\0RANK=2\0") == {"RANK": "2"}


def test_the_first_of_two_equal_names_counts_as_in_getenv() -> None:
    assert kept(b"RANK=1\0RANK=2\0") == {"RANK": "1"}


@pytest.mark.parametrize(
    ("env", "rank"),
    [
        ({"RANK": "5", "OMPI_COMM_WORLD_RANK": "2"}, 5),
        ({"OMPI_COMM_WORLD_RANK": "2", "PMIX_RANK": "1"}, 2),
        ({"PMIX_RANK": "4"}, 4),
        ({"PMI_RANK": "1"}, 1),
        ({"MV2_COMM_WORLD_RANK": "6"}, 6),
        ({"HOROVOD_RANK": "1"}, 1),
        ({"JAX_PROCESS_ID": "0"}, 0),
        ({"JAX_COORDINATOR_ADDRESS": "c", "JOB_INDEX": "2", "PROCESSES_IN_JOB": "4", "JOB_COMPLETION_INDEX": "1"}, 9),
        ({"JAX_COORDINATOR_IP": "10.0.0.1", "NODE_RANK": "3", "NNODES": "4"}, 3),
        (
            {"NODE_RANK": "3", "NNODES": "4", "JOB_INDEX": "1", "JOB_COMPLETION_INDEX": "1", "PROCESSES_IN_JOB": "2"},
            None,
        ),
        ({"LOCAL_RANK": "1", "WORLD_SIZE": "2", "NODE_RANK": "0"}, 1),
        ({"LOCAL_RANK": "1", "NODE_RANK": "2", "LOCAL_WORLD_SIZE": "8"}, 17),
        ({"LOCAL_RANK": "1", "NODE_RANK": "2"}, None),
        ({"RANK": "", "LOCAL_RANK": "x"}, None),
        ({"RANK": "-1"}, None),
        ({}, None),
    ],
)
def test_rank_of_each_launcher(env: dict[str, str], rank: int | None) -> None:
    assert rank_of(env, is_slurm_task=False) == rank


def test_slurm_numbers_count_only_for_its_tasks() -> None:
    env = {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NTASKS": "4"}
    assert (rank_of(env, True), local_rank_of(env, True), world_size_of(env, True)) == (3, 1, 4)
    assert (rank_of(env, False), local_rank_of(env, False), world_size_of(env, False)) == (None, None, None)


def test_job_key_prefers_what_is_unique() -> None:
    rendezvous = {"MASTER_ADDR": "a", "MASTER_PORT": "29500"}
    assert job_key({"TORCHELASTIC_RUN_ID": "abc", **rendezvous}, 7) == "abc"
    assert job_key({"TORCHELASTIC_RUN_ID": "none", **rendezvous}, 7) == "a:29500"
    assert job_key({"SLURM_JOB_ID": "12", "SLURM_STEP_ID": "3"}, 7) == "12.3"
    assert job_key({"PMIX_NAMESPACE": "2233565185"}, 7) == "2233565185"
    assert job_key({"RAY_JOB_ID": "01000000"}, 7) == "ray-01000000"
    assert job_key({}, 7) == "pid-7"
    assert job_key({}, None) is None


def test_a_size_that_no_job_has_is_not_believed() -> None:
    assert world_size_of({"WORLD_SIZE": "999999999"}, False) is None
    assert local_world_size_of({"LOCAL_WORLD_SIZE": "999999999"}) is None
    assert local_world_size_of({"LOCAL_WORLD_SIZE": "8"}) == 8


def test_world_size_and_restarts() -> None:
    assert world_size_of({"JAX_COORDINATOR_IP": "10.0.0.1", "NNODES": "4"}, False) == 4
    assert world_size_of({"JAX_COORDINATOR_ADDRESS": "c", "JAX_PROCESS_COUNT": "16"}, False) == 16
    assert world_size_of({"NNODES": "4"}, False) is None
    assert restarts_of({"TORCHELASTIC_RESTART_COUNT": "2"}) == 2
    assert restarts_of({}) is None
