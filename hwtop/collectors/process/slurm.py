"""Processes of a Slurm job on this node, for `slurm:JOBID[.STEP]` in place of a PID."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hwtop.collectors.process.roster import SCAN_LIMIT, Roster, watchers_of
from hwtop.errors import CannotError, UsageError
from hwtop.job.launch.launcher import is_python, is_session, is_side_program, is_slurmstepd, launcher_kind, program_name
from hwtop.job.launch.place import slurm_ids
from hwtop.job.launch.programs import SHELLS
from hwtop.model.process import ProcessInfo

PREFIX = "slurm:"
_TARGET = re.compile(r"(?P<job>\d{1,10})(?:_(?P<task>\d{1,10}))?(?:\.(?P<step>\d{1,10}|batch|interactive))?")
_CLIENTS = frozenset({"srun", "salloc", "sbatch"})
_ANSWER_S = 5.0
"""How long Slurm's own commands may take; they wait much longer for a controller that is down."""

Run = Callable[[Sequence[str]], tuple[int, str] | None]
"""Exit code and output of a command; None where it is not installed or does not answer."""


class SlurmTarget(NamedTuple):
    """What was typed after "slurm:"."""

    job: str
    """Number of the job, or of the array."""
    task: str | None
    """Of an array."""
    step: str | None

    @property
    def name(self) -> str:
        """As squeue shows the job."""
        return self.job if self.task is None else f"{self.job}_{self.task}"

    def has(self, process: ProcessInfo, job: str | None) -> bool:
        """Whether a process that runs in job number `job` belongs to it."""
        if self.task is None:
            return job == self.job
        env = process.env or {}
        return (env.get("SLURM_ARRAY_JOB_ID"), env.get("SLURM_ARRAY_TASK_ID")) == (self.job, self.task)


def find_slurm_job(text: str, proc: str = "/proc", own_pid: int | None = None, run: Run | None = None) -> int:
    """PID of a process of the job, for `text` = "slurm:12", "slurm:12.0" or "slurm:12_3" (a task of an array).

    `own_pid` is hwtop's process (this one when None): the step that it runs in itself is not meant.

    Raises:
        UsageError: that is no job, Slurm does not know it, or several of its steps could be meant.
        CannotError: it is not on this machine; says where it is and what to type.
    """
    target = parse(text)
    run = run or _run
    steps = _steps_here(target, proc, os.getpid() if own_pid is None else own_pid) or _listed(target, proc, run)
    if not steps:
        raise _not_here(target, run)
    if target.step is not None:
        if target.step not in steps:
            raise UsageError(f"Slurm job {target.name} has no step {target.step} here: {_choices(target, steps)}")
        return _first(steps[target.step])
    training = {step: group for step, group in steps.items() if any(map(_is_training, group))} or steps
    numbered = {step: group for step, group in training.items() if step.isdigit()} or training
    if len(numbered) > 1:
        raise UsageError(f"Slurm job {target.name} has {len(numbered)} steps here: {_choices(target, numbered)}")
    return _first(next(iter(numbered.values())))


def parse(text: str) -> SlurmTarget:
    """What "slurm:12_3.0" names.

    Raises:
        UsageError: it names nothing.
    """
    match = _TARGET.fullmatch(text.removeprefix(PREFIX))
    if match is None:
        forms = "slurm:12345, slurm:12345.0 (a step) or slurm:12345_7 (a task of an array)"
        raise UsageError(f"{text!r} is not a Slurm job: write {forms}; `squeue --me` lists your jobs")
    return SlurmTarget(match["job"], match["task"], match["step"])


def _steps_here(target: SlurmTarget, proc: str, own_pid: int) -> dict[str, list[ProcessInfo]]:
    """Step -> its processes on this machine; clients, shells and hwtop's own step left out where anything else is there."""
    roster = Roster(proc)
    processes = roster.read(roster.pids()[-SCAN_LIMIT:])
    watchers = set(watchers_of(own_pid, proc))
    own_steps = {pid for pid in watchers if is_slurmstepd(processes.get(pid))}
    steps: dict[str, list[ProcessInfo]] = {}
    beside: dict[str, list[ProcessInfo]] = {}
    for process in processes.values():
        above = _above(process, processes)
        if process.pid in watchers or own_pid in above or process.state == "Z":
            continue
        ids = [slurm_ids(processes[pid]) for pid in (process.pid, *above)]
        job, step = next((found for found in ids if found[0] is not None), (None, None))
        if target.has(process, job) and not is_slurmstepd(process) and program_name(process) not in _CLIENTS:
            step = step or next((found[1] for found in ids if found[0] == job and found[1]), None)
            (beside if own_steps & set(above) else steps).setdefault(step or "batch", []).append(process)
    return _with_programs(steps) or _with_programs(beside) or steps


def _with_programs(steps: Mapping[str, Sequence[ProcessInfo]]) -> dict[str, list[ProcessInfo]]:
    programs = {step: [process for process in group if _is_program(process)] for step, group in steps.items()}
    return {step: group for step, group in programs.items() if group}


def _above(process: ProcessInfo, processes: Mapping[int, ProcessInfo]) -> list[int]:
    found: list[int] = []
    parent = processes.get(process.ppid)
    while parent is not None and parent.pid not in found:
        found.append(parent.pid)
        parent = processes.get(parent.ppid)
    return found


def _listed(target: SlurmTarget, proc: str, run: Run) -> dict[str, list[ProcessInfo]]:
    """The same from slurmd: for processes that have lost their environment and their parent."""
    done = run(["scontrol", "listpids", target.name])
    if done is None or done[0] != 0:
        return {}
    roster = Roster(proc)
    steps: dict[str, list[ProcessInfo]] = {}
    for line in done[1].splitlines()[1:]:  # PID JOBID STEPID LOCALID GLOBALID
        words = line.split()
        if len(words) >= 3 and words[0].isdigit():
            steps.setdefault(words[2], []).extend(roster.read([int(words[0])]).values())
    return {step: group for step, group in steps.items() if group}


def _not_here(target: SlurmTarget, run: Run) -> UsageError | CannotError:
    """Where the job is instead, from squeue."""
    host = os.uname().nodename
    there = f"srun --jobid={target.job} --overlap -N1 -n1 --pty hwtop {PREFIX}{target.name}"
    done = run(["squeue", "-h", "-j", target.name, "-o", "%T|%N|%A|%r"])
    if done is None:
        return CannotError(
            f"no process of Slurm job {target.name} on this machine ({host}), and squeue does not answer: "
            f"type `{there}`, or run hwtop on the job's node"
        )
    code, output = done
    if code != 0 and "Invalid job id" not in output:
        return CannotError(
            f"no process of Slurm job {target.name} on this machine ({host}); squeue says: {output.strip()}"
        )
    line = output.strip().splitlines()[0] if code == 0 and output.strip() else ""
    if line.count("|") < 3:
        return UsageError(
            f"no process of Slurm job {target.name} on this machine ({host}), and Slurm does not know it: "
            f"`squeue --me` lists your jobs, `sacct -j {target.name}` shows how one ended"
        )
    state, nodes, job, reason = line.split("|", 3)
    if state == "PENDING":
        return CannotError(
            f"Slurm job {target.name} waits in the queue ({reason}): `squeue -j {target.name} --start` shows until when"
        )
    if state not in ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING"):
        return CannotError(f"Slurm job {target.name} has ended ({state}): `sacct -j {target.name}` shows how")
    there = there.replace(f"--jobid={target.job}", f"--jobid={job}")
    return CannotError(
        f"Slurm job {target.name} runs on {nodes}, and no process of it is visible on this machine ({host}): type `{there}` "
        "(with `-w NODE` for another node than the first), or `ssh` there and run hwtop"
    )


def _choices(target: SlurmTarget, steps: Mapping[str, Sequence[ProcessInfo]]) -> str:
    listed = [f"{PREFIX}{target.name}.{step} ({_title(group)})" for step, group in sorted(steps.items())[:8]]
    return f"give {' or '.join(listed)}"


def _title(group: Sequence[ProcessInfo]) -> str:
    process = next((process for process in group if _is_training(process)), group[0])
    return " ".join(process.cmdline or (process.comm,))[:60]


def _first(group: Sequence[ProcessInfo]) -> int:
    training = [process for process in group if _is_training(process)] or group
    return min(training, key=lambda process: (process.start_ticks, process.pid)).pid


def _is_training(process: ProcessInfo) -> bool:
    return is_python(process) or launcher_kind(process) is not None


def _is_program(process: ProcessInfo) -> bool:
    return not is_session(process) and not is_side_program(process) and program_name(process) not in SHELLS


def _run(command: Sequence[str]) -> tuple[int, str] | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr
