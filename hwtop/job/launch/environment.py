"""What the environment of a process tells about its place in a job.

Names per launcher: torch.distributed.run, docs.open-mpi.org "Environment variables", MPICH/Intel MPI hydra, MVAPICH2,
slurm.schedmd.com/srun.html "OUTPUT ENVIRONMENT VARIABLES", Horovod, jax.distributed, MaxText `max_utils.initialize_jax_for_cpu`
and `_for_gpu`, Lightning `ddp`, Ray `ray_constants`.
/proc/PID/environ shows the environment at exec: what a process sets later in os.environ is invisible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hwtop.job.secrets import is_secret_name, masked_text
from hwtop.job.whole_number import whole_number

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")
_RANK_OF_TASK = "SLURM_PROCID"
_RANK_LAST = ("HOROVOD_RANK", "JAX_PROCESS_ID")
_LOCAL_RANK = (
    "LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "HOROVOD_LOCAL_RANK",
)
_WORLD_SIZE = (
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "HOROVOD_SIZE",
    "JAX_NUM_PROCESSES",
    "JAX_PROCESS_COUNT",
)
_JAX_COORDINATOR = ("JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_IP")

KEPT: frozenset[str] = frozenset(
    (
        *_RANK,
        _RANK_OF_TASK,
        *_RANK_LAST,
        *_LOCAL_RANK,
        *_WORLD_SIZE,
        "LOCAL_WORLD_SIZE",
        "LOCAL_SIZE",
        "GROUP_RANK",
        "GROUP_WORLD_SIZE",
        "NODE_RANK",
        "ROLE_NAME",
        "ROLE_RANK",
        "ROLE_WORLD_SIZE",
        "CROSS_RANK",
        "CROSS_SIZE",
        "MASTER_ADDR",
        "MASTER_PORT",
        "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_RESTART_COUNT",
        "TORCHELASTIC_MAX_RESTARTS",
        "TORCHELASTIC_USE_AGENT_STORE",
        "TORCHELASTIC_ERROR_FILE",
        "TORCHELASTIC_SIGNALS_TO_HANDLE",
        "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
        "TORCH_WORKER_SERVER_SOCKET",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_COMM_WORLD_NODE_RANK",
        "PMI_ID",
        "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_LOCAL_SIZE",
        "SLURM_JOB_ID",
        "SLURM_JOBID",
        "SLURM_JOB_NAME",
        "SLURM_STEP_ID",
        "SLURM_STEPID",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "SLURM_NTASKS",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_NNODES",
        "SLURM_JOB_NUM_NODES",
        "SLURM_CPUS_PER_TASK",
        "SLURM_STEP_GPUS",
        "SLURM_JOB_GPUS",
        "SLURM_ARRAY_JOB_ID",
        "SLURM_ARRAY_TASK_ID",
        "HOROVOD_LOCAL_SIZE",
        "HOROVOD_CROSS_RANK",
        *_JAX_COORDINATOR,
        "JAX_COORDINATOR_PORT",
        "NNODES",
        "JOB_INDEX",
        "JOB_COMPLETION_INDEX",
        "PROCESSES_IN_JOB",
        "PMIX_NAMESPACE",
        "RAY_JOB_ID",
        "OMP_NUM_THREADS",
        "OMP_PROC_BIND",
        "OMP_WAIT_POLICY",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMEXPR_MAX_THREADS",
        "TORCH_NUM_THREADS",
        "KMP_AFFINITY",
        "GOMP_CPU_AFFINITY",
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_LAUNCH_BLOCKING",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "NVIDIA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "GPU_DEVICE_ORDINAL",
        "ZE_AFFINITY_MASK",
        "ZE_FLAT_DEVICE_HIERARCHY",
        "TPU_VISIBLE_CHIPS",
        "TPU_VISIBLE_DEVICES",
        "GLOO_SOCKET_IFNAME",
        "TP_SOCKET_IFNAME",
        "PYTORCH_ALLOC_CONF",
        "PYTORCH_CUDA_ALLOC_CONF",
        "TORCH_DISTRIBUTED_DEBUG",
        "TORCH_CPP_LOG_LEVEL",
        "TORCH_SHOW_CPP_STACKTRACES",
        "KINETO_USE_DAEMON",
        "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
        "CUDA_COREDUMP_PIPE",
        "CUDA_COREDUMP_FILE",
        "PYTHONUNBUFFERED",
        "PYTHONFAULTHANDLER",
        "CONDA_DEFAULT_ENV",
        "HOME",
        "XDG_CACHE_HOME",
    )
)
"""Variables that are kept. Exact names wherever a family also holds secrets (SLURM_JWT, PMIX_SECURITY_MODE, ...)."""

_KEPT_PREFIXES = ("NCCL_", "TORCH_NCCL_", "TORCH_FR_")
"""Families of switches of the NCCL library and of its use in torch."""

_MOST_RANKS = 1 << 20
"""A job that is larger says nothing that is believed: what is kept of sizes is lists of ranks."""
NO_JOB = "ffffffff"
"""RAY_JOB_ID of what Ray starts for itself (JobID.nil())."""

_VALUE_LIMIT = 1024
"""Characters of a kept value; none of these variables is longer unless it is misused."""


def kept(environ: bytes) -> dict[str, str]:
    """The variables of one /proc/PID/environ that are kept. Malformed parts (a process title written over it) are dropped."""
    found: dict[str, str] = {}
    for part in environ.split(b"\0"):
        name_bytes, separator, value = part.partition(b"=")
        name = name_bytes.decode("ascii", "replace")
        if separator and name not in found and _is_kept(name):
            found[name] = masked_text(value.decode("utf-8", "replace")[: 2 * _VALUE_LIMIT])[:_VALUE_LIMIT]
    return found


def rank_of(env: Mapping[str, str], is_slurm_task: bool) -> int | None:
    """Rank number of a process, or None where its environment does not tell.

    SLURM_PROCID counts only for a task itself: below a torchrun that srun started, all ranks of the node carry the same one.
    LOCAL_RANK alone (Lightning's `ddp`) is the rank on the first node.
    """
    names = (*_RANK, *((_RANK_OF_TASK,) if is_slurm_task else ()), *_RANK_LAST)
    rank = _first(env, names)
    if rank is None:
        rank = _rank_from_local(env)
    return rank if rank is not None else _rank_of_jax(env)


def local_rank_of(env: Mapping[str, str], is_slurm_task: bool) -> int | None:
    """Number of the rank on its node, or None."""
    return _first(env, (*_LOCAL_RANK, *(("SLURM_LOCALID",) if is_slurm_task else ())))


def local_world_size_of(env: Mapping[str, str]) -> int | None:
    """How many ranks this machine should have, or None."""
    return _credible(_number(env.get("LOCAL_WORLD_SIZE")))


def world_size_of(env: Mapping[str, str], is_slurm_task: bool) -> int | None:
    """How many ranks the job has on all nodes, or None."""
    tasks = ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS") if is_slurm_task else ()
    size = _first(env, (*_WORLD_SIZE, *tasks))
    return _credible(size if size is not None or not _has_jax_coordinator(env) else _number(env.get("NNODES")))


def restarts_of(env: Mapping[str, str]) -> int | None:
    """How many times torchrun has started this worker anew, or None where it does not tell."""
    return _number(env.get("TORCHELASTIC_RESTART_COUNT"))


def slurm_job_of(env: Mapping[str, str]) -> str | None:
    """Slurm's job number."""
    return env.get("SLURM_JOB_ID", env.get("SLURM_JOBID")) or None


def slurm_step_of(env: Mapping[str, str]) -> str | None:
    """Number of the step; None in a batch script and in a shell of salloc."""
    return env.get("SLURM_STEP_ID", env.get("SLURM_STEPID")) or None


def job_key(env: Mapping[str, str], launcher_pid: int | None) -> str | None:
    """What tells this job from another on the same box, most telling first; None where nothing does."""
    run_id = env.get("TORCHELASTIC_RUN_ID")
    if run_id and run_id != "none":  # "none" is torchrun's default --rdzv-id, the same for every job
        return run_id
    slurm_job = slurm_job_of(env)
    if slurm_job:
        return f"{slurm_job}.{slurm_step_of(env) or '0'}"
    if "MASTER_ADDR" in env and "MASTER_PORT" in env:
        return f"{env['MASTER_ADDR']}:{env['MASTER_PORT']}"
    if env.get("PMIX_NAMESPACE"):
        return env["PMIX_NAMESPACE"]
    if env.get("RAY_JOB_ID", NO_JOB) != NO_JOB:
        return f"ray-{env['RAY_JOB_ID']}"
    return None if launcher_pid is None else f"pid-{launcher_pid}"


def _credible(size: int | None) -> int | None:
    return None if size is None or size > _MOST_RANKS else size


def _is_kept(name: str) -> bool:
    if name in KEPT:
        return True
    return name.startswith(_KEPT_PREFIXES) and not is_secret_name(name)


def _rank_from_local(env: Mapping[str, str]) -> int | None:
    local = _number(env.get("LOCAL_RANK"))
    node = _number(env.get("NODE_RANK", env.get("GROUP_RANK", "0")))
    if local is None or node is None:
        return None
    per_node = _number(env.get("LOCAL_WORLD_SIZE"))
    if node == 0:
        return local
    return None if per_node is None else node * per_node + local


def _rank_of_jax(env: Mapping[str, str]) -> int | None:
    """MaxText under Kubernetes: one process a pod, numbered by pod, or by node on GPUs."""
    if not _has_jax_coordinator(env):
        return None
    job, pod, pods = (_number(env.get(name)) for name in ("JOB_INDEX", "JOB_COMPLETION_INDEX", "PROCESSES_IN_JOB"))
    if pod is not None and job is not None and pods is not None:
        return job * pods + pod
    return _number(env.get("NODE_RANK"))


def _has_jax_coordinator(env: Mapping[str, str]) -> bool:
    return any(name in env for name in _JAX_COORDINATOR)


def _first(env: Mapping[str, str], names: Iterable[str]) -> int | None:
    return next((number for name in names if (number := _number(env.get(name))) is not None), None)


def _number(text: str | None) -> int | None:
    return whole_number(text, digits=9)
