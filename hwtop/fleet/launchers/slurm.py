"""Slurm: one job step beside the others of a running job, with one agent on each of its nodes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hwtop.errors import CannotError, UsageError
from hwtop.fleet.launchers.launcher import Agent, Says, Start

_ASK_S = 30.0
"""For squeue and scontrol on a busy controller. Engineering default."""
_JOB = re.compile(r"\d{1,12}(_\d{1,9})?", re.ASCII)
_GRES = re.compile(r"\bgpu(?::[A-Za-z][^:,()\s]*)?:(\d+)", re.ASCII)
_KEPT = frozenset({"SLURM_CONF", "SLURM_CLUSTERS"})
"""What srun may see of the shell's SLURM_* variables: inside of a job the others are limits of that job's own steps."""
SAYS = (
    (
        "Access/permission denied",
        "Slurm: permission denied: only the owner of the job may attach to it; others use --hosts (ssh)",
    ),
    ("Invalid job id", "Slurm: there is no such job, or it has ended"),
    ("Job has already finished", "Slurm: the job has ended"),
    ("already completing", "Slurm: the job is ending"),
    ("Unable to contact slurm controller", "Slurm: its controller does not answer"),
    ("nodes are busy", "Slurm: the job has no room for another step: try --hosts (ssh)"),
    ("Memory required by task is not available", "Slurm: the job has no memory left for a step: try --hosts (ssh)"),
)
"""What srun prints -> the reason."""


class SlurmLauncher:
    """One srun for all nodes: a step for each would burden the controller."""

    says: Says = SAYS

    def __init__(self, job: str, environment: Mapping[str, str] = os.environ) -> None:
        """`job`: its number, or ARRAY_TASK.

        Raises:
            UsageError: it is no number of a job.
        """
        if not _JOB.fullmatch(job):
            raise UsageError(f"{job!r} is not a Slurm job: use e.g. --slurm 1234 or --slurm 1234_5")
        self._job = job
        self._env = {name: value for name, value in environment.items() if not _is_of_a_step(name)}

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """One step over all nodes of the job.

        Raises:
            UsageError: there is no such job, or it does not run.
            CannotError: Slurm's commands are not here, or it does not answer.
        """
        listed = self._asked("squeue", "-h", "-j", self._job, "-o", "%T|%N|%r").splitlines()
        state, _, rest = (listed[0] if listed else "").strip().partition("|")
        nodes, _, why = rest.partition("|")
        if not state:
            raise UsageError(f"Slurm job {self._job} has ended or never was: `squeue --me` lists yours")
        if state != "RUNNING" or not nodes:
            raise UsageError(f"Slurm job {self._job} does not run on any node: {state} ({why})")
        names = tuple(self._asked("scontrol", "show", "hostnames", nodes).split())
        of_job = agent if agent.pid or agent.name else replace(agent, pid=f"slurm:{self._job}")
        gpus = _GRES.search(self._asked("scontrol", "show", "job", "-d", self._job))
        command = (
            *("srun", f"--jobid={self._job}", "--overlap", f"--nodes={len(names)}", f"--ntasks={len(names)}"),
            *("--ntasks-per-node=1", "--mem=0", "--cpu-bind=none", "--mpi=none", "--immediate=30", "--wait=0"),
            *("--kill-on-bad-exit=0", "--chdir=/", f"--gres=gpu:{gpus[1]}" if gpus else "--gres=none"),
            *("sh", "-c", of_job.shell(None, lines=True)),
        )
        return (Start(nodes=names, command=command, env=self._env, carries="lines"),)

    def _asked(self, *command: str) -> str:
        try:
            done = subprocess.run(
                command, env=self._env, capture_output=True, text=True, errors="replace", timeout=_ASK_S, check=False
            )
        except FileNotFoundError:
            raise CannotError(f"{command[0]} is not on this machine: run this where you submit jobs") from None
        except subprocess.TimeoutExpired:
            raise CannotError(f"Slurm does not answer: {command[0]} took over {_ASK_S:.0f} s") from None
        if done.returncode != 0:
            raise _refused(self._job, command, done.stderr)
        return done.stdout


def _refused(job: str, command: Sequence[str], errors: str) -> UsageError | CannotError:
    if "Invalid job id" in errors:
        return UsageError(f"Slurm does not know job {job}: `squeue --me` lists yours")
    return CannotError(f"{command[0]}: {' '.join(errors.split())[:200] or 'failed'}")


def _is_of_a_step(name: str) -> bool:
    return name.startswith(("SLURM_", "SLURMD_", "SRUN_", "PMI_", "PMIX_")) and name not in _KEPT
