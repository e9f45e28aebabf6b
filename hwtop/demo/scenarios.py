"""The scenarios of `hwtop demo`: what is planted, and the symptom that hwtop should name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Script:
    """A job that is one file (`catalogue.py`)."""

    path: Path
    rank_count: int
    """0: it needs no ranks, or starts them itself."""
    env: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    """Packages besides the standard library."""


@dataclass(frozen=True)
class Scenario:
    """One demo job."""

    name: str
    description: str
    """One line for `hwtop demo --list`."""
    symptom: str | None
    """Id of the symptom that is planted; None = a healthy job on which hwtop should find nothing."""
    has_torch_trainer: bool
    """Whether the job runs on torch where torch is installed; the others always use the standard library."""
    arguments: tuple[str, ...] = ()
    """Arguments of the trainer (`train/settings.py`)."""
    script: Script | None = None
    """What runs instead of the trainer."""


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "slow-loader",
        "one loader worker a rank, whose decode burns CPU: the ranks wait for data most of each step",
        "input-bound-cpu",
        True,
        ("--num-workers", "1", "--decode-ms", "220", "--forward-ms", "10", "--backward-ms", "10", "--device-ms", "15"),
    ),
    Scenario(
        "healthy",
        "nothing planted; evaluates every 40 steps and saves a checkpoint every 60",
        None,
        True,
        ("--eval-every", "40", "--save-every", "60"),
    ),
    Scenario("sparse-log", "nothing planted; logs every 50 steps only", None, True, ("--log-every", "50")),
    Scenario(
        "loader-in-main",
        "no loader workers: the training process decodes its data itself",
        "input-bound-workers",
        True,
        ("--num-workers", "0", "--decode-ms", "120", "--forward-ms", "15", "--backward-ms", "15"),
    ),
    Scenario(
        "slow-storage",
        "the loader workers wait in read() for samples from a slow pipe that stands in for slow storage",
        "input-bound-io",
        False,
        ("--read-ms", "500", "--device-ms", "20"),
    ),
    Scenario(
        "hang",
        "from step 40 rank 1 waits for an event that nobody sets; rank 0 waits for rank 1",
        "rank-missing-from-collective",
        True,
        ("--fault", "hang"),
    ),
    Scenario(
        "mismatch",
        "after step 40 rank 1 enters a barrier to save a checkpoint while rank 0 enters the next all_reduce",
        "collective-mismatch",
        True,
        ("--fault", "mismatch"),
    ),
    Scenario(
        "straggler",
        "rank 1 computes four times longer in forward; rank 0 waits for it in each step",
        "straggler-rank",
        True,
        ("--fault", "straggler", "--forward-ms", "80", "--backward-ms", "15", "--device-ms", "15"),
    ),
    Scenario("stopped", "rank 1 is stopped by SIGSTOP at step 40", "rank-stopped", True, ("--fault", "stopped")),
    Scenario(
        "dead",
        "rank 1 is killed by SIGKILL at step 40; rank 0 keeps waiting for it",
        "rank-dead",
        True,
        ("--fault", "dead"),
    ),
    Scenario("nan", "the loss is nan from step 40 on", "loss-nan", True, ("--fault", "nan")),
    Scenario(
        "leak",
        "rank 0 keeps 25 MB more host memory each step, up to 4 GB",
        "host-memory-leak",
        True,
        ("--fault", "leak", "--device-ms", "200"),
    ),
    Scenario("crash", "rank 1 raises a ValueError at step 40", "rank-crash", True, ("--fault", "crash")),
    Scenario(
        "cuda-oom",
        "simulated: at step 40 rank 1 raises an error with the text of a CUDA out of memory error",
        "cuda-oom",
        False,
        ("--fault", "cuda-oom"),
    ),
    Scenario(
        "oversubscribed",
        "each rank computes on many more threads than the cores it may use",
        "cpu-oversubscribed",
        False,
        ("--fault", "oversubscribed"),
    ),
)

DEFAULT = "slow-loader"
