"""What a signal would do to a process of the job and to the remaining ones. Pure.

Sources: signal(7) and proc(5) (SigCgt, SigIgn) for the process itself; torch.distributed.elastic
`multiprocessing/api.py` (SIGTERM to all ranks, SIGKILL after 30 s, restarts), mpirun(1) "Process Termination", srun(1)
`--kill-on-bad-exit` for the launchers; `torch/utils/data/dataloader.py` for loader workers.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from hwtop.job.rank_set import named
from hwtop.model.job import Job
from hwtop.model.member import JobProcess

SIGNALS = ("SIGTERM", "SIGINT", "SIGCONT", "SIGSTOP", "SIGUSR1", "SIGUSR2", "SIGKILL")
"""What the menu offers, the mildest first."""

Fate = Literal["ends", "handler", "ignored", "pauses", "resumes", "nothing", "unknown"]
"""The effect on one process: "unknown" if its handlers cannot be read."""

_WORDS: dict[Fate, str] = {
    "ends": "killed immediately",
    "handler": "own handler runs",
    "ignored": "ignored",
    "pauses": "paused",
    "resumes": "resumed",
    "nothing": "no effect",
    "unknown": "killed, unless it has a handler (not readable)",
}
_RESTARTING = ("torchrun", "accelerate", "deepspeed")
"""Launchers built on torch's elastic agent, or that end all ranks when one ends."""


class Target(Struct, frozen=True, kw_only=True):
    """Processes that a signal can be sent to."""

    title: str
    processes: tuple[JobProcess, ...]


def targets(
    job: Job, pid: int | None, rank: int | None, groups: Sequence[tuple[str, Sequence[JobProcess]]] = ()
) -> tuple[Target, ...]:
    """What the menu offers: groups that the user has marked, the chosen process, the chosen rank with and without its
    helpers, the launcher, all processes."""
    living = [process for process in job.processes if _is_alive(process)]
    chosen = next((process for process in living if process.pid == pid), None)
    numbers = {process.rank for process in living if process.role == "rank"}
    only = numbers.pop() if len(numbers) == 1 else None
    number = chosen.rank if chosen is not None else only if rank is None else rank
    processes = [process for process in living if number is not None and process.rank == number]
    own = next((process for process in processes if process.role == "rank"), None)
    launcher = next((process for process in living if process.role == "launcher"), None)
    found = [_group(name, [process for process in group if _is_alive(process)]) for name, group in groups]
    found = [target for target in found if target.processes]
    found += [Target(title=title(process), processes=(process,)) for process in (chosen, own) if process is not None]
    if own is not None and len(processes) > 1:
        helpers = "1 helper" if len(processes) == 2 else f"{len(processes) - 1} helpers"
        found.append(Target(title=f"rank {number} and its {helpers}", processes=tuple(processes)))
    if launcher is not None:
        found.append(Target(title=f"the whole job, through its {title(launcher)}", processes=(launcher,)))
    if len(living) > 1:
        found.append(Target(title=f"all {len(living)} processes of the job", processes=tuple(living)))
    first = {tuple(process.pid for process in target.processes): target for target in reversed(found)}
    return tuple(target for target in found if target in first.values())


def _group(name: str, living: Sequence[JobProcess]) -> Target:
    return Target(title=title(living[0]) if len(living) == 1 else name, processes=tuple(living))


def _is_alive(process: JobProcess) -> bool:
    return process.state not in ("Z", "X")


def job_title(job: Job) -> str:
    """The job in words: launcher, Slurm id, command."""
    launcher = job.launcher
    by_pid = {process.pid: process for process in job.processes}
    target = by_pid.get(job.target_pid)
    command = launcher.command if launcher else target.command if target else ""
    head = f"{launcher.kind} {launcher.pid}" if launcher else f"PID {job.target_pid}"
    slurm = f", Slurm job {job.place.slurm_job}" if job.place and job.place.slurm_job else ""
    return f"{head}{slurm}: {command}" if command else f"{head}{slurm}"


def title(process: JobProcess) -> str:
    """A process in words: "rank 3 · PID 123"."""
    name = "rank" if process.role == "rank" else process.role.replace("-", " ")
    number = (
        "" if process.rank is None else f" {process.rank}" if process.role == "rank" else f" of rank {process.rank}"
    )
    return f"{name}{number} · PID {process.pid}"


def fate(name: str, process: JobProcess) -> Fate:
    """What signal `name` does to this process."""
    if process.state in ("Z", "X"):
        return "nothing"
    if name == "SIGKILL":
        return "ends"
    if name == "SIGSTOP":
        return "nothing" if process.state == "T" else "pauses"
    if name == "SIGCONT":
        return "resumes" if process.state == "T" else "nothing"
    if process.caught_signals is None or process.ignored_signals is None:
        return "unknown"
    bit = 1 << (signal.Signals[name] - 1)
    if process.caught_signals & bit:
        return "handler"
    return "ignored" if process.ignored_signals & bit else "ends"


def effect(name: str, target: Target) -> str:
    """One clause: the effect on the processes that get it."""
    if len(target.processes) == 1:
        return _effect(name, target.processes[0])
    fates = [fate(name, process) for process in target.processes]
    return ", ".join(f"{fates.count(each)} × {_WORDS[each]}" for each in dict.fromkeys(fates))


def harms(name: str, target: Target) -> bool:
    """Whether it would kill or pause a process, as far as is known."""
    return any(fate(name, process) in ("ends", "pauses", "unknown") for process in target.processes)


def aftermath(name: str, target: Target, job: Job) -> str:
    """One sentence: the effect on the processes that do not get it; "" if there is none."""
    hit = {process.pid for process in target.processes}
    ranks = [rank for rank in job.ranks if rank.is_alive]
    others = [rank for rank in ranks if rank.pid not in hit]
    first = target.processes[0]
    if len(hit) > 1 and not others:
        return _after_all(name, target) if harms(name, target) else ""
    if any(process.role == "rank" for process in target.processes):
        return _after_rank(name, target, job, len(others))
    if first.role == "launcher":
        return _after_launcher(name, first, job, len(ranks))
    workers = [process for process in target.processes if process.role == "loader-worker" and process.rank is not None]
    return _after_workers(name, workers) if workers else ""


def _after_all(name: str, target: Target) -> str:
    fates = {fate(name, process) for process in target.processes if process.role == "rank"}
    if fates & {"handler", "ignored"}:
        return "Ranks that handle or ignore it may continue."
    return "No process of the job continues."


def _effect(name: str, process: JobProcess) -> str:
    what = _plain_effect(name, process)
    if process.state == "D" and name != "SIGCONT":
        return f"{what}; takes effect when it returns from the kernel (wchan {process.wchan or 'unknown'})"
    if process.state == "T" and name not in ("SIGCONT", "SIGKILL", "SIGSTOP"):
        return f"{what}; takes effect after SIGCONT, as it is stopped"
    return what


def _plain_effect(name: str, process: JobProcess) -> str:
    match fate(name, process):
        case "ends":
            return (
                "kills it immediately, nothing is saved"
                if name == "SIGKILL"
                else "no handler: kills it, nothing is saved"
            )
        case "handler":
            return {
                "SIGTERM": "requests termination: its handler runs",
                "SIGINT": "same as Ctrl-C: KeyboardInterrupt, or its handler",
            }.get(name, "its own handler runs, with unknown effect")
        case "pauses":
            return "pauses it until SIGCONT"
        case "resumes":
            return "resumes it"
        case "ignored":
            return "no effect: it ignores the signal"
        case "unknown":
            return "kills it, unless it has a handler (not readable)"
        case "nothing":
            return _no_effect(name, process)


def _no_effect(name: str, process: JobProcess) -> str:
    if process.state in ("Z", "X"):
        return "no effect: it has already exited"
    return "no effect: it is not stopped" if name == "SIGCONT" else "no effect: it is already stopped"


def _after_rank(name: str, target: Target, job: Job, others: int) -> str:
    fates = {fate(name, process) for process in target.processes if process.role == "rank"}
    rest = "the other rank" if others == 1 else f"the other {others} ranks"
    if "pauses" in fates:
        waits = "waits" if others == 1 else "wait"
        return f"Meanwhile {rest} {waits} in the next collective, and may abort at its timeout." if others else ""
    if not fates & {"ends", "unknown", "handler"} or (name in ("SIGUSR1", "SIGUSR2") and "handler" in fates):
        return ""
    if not others:
        return "Then no rank is left."
    launcher = job.launcher if job.launcher is not None and job.launcher.is_alive else None
    kind = launcher.kind if launcher is not None else ""
    if kind in _RESTARTING:
        return f"Then {kind} terminates {rest}, and restarts all ranks if it has restarts left."
    if kind in ("mpirun", "mpiexec"):
        return f"Then {kind} aborts {rest}."
    hang, exit_ = ("hangs", "exits") if others == 1 else ("hang", "exit")
    unless = " unless it was started with --kill-on-bad-exit" if kind == "srun" else ""
    return f"Then {rest} {hang} in the next collective until its timeout, or {exit_} with an error{unless}."


def _after_launcher(name: str, launcher: JobProcess, job: Job, ranks: int) -> str:
    kind = job.launcher.kind if job.launcher is not None else "the launcher"
    rest = "its rank" if ranks == 1 else f"its {ranks} ranks"
    match fate(name, launcher):
        case "handler" if name in ("SIGTERM", "SIGINT"):
            return f"Then {kind} terminates {rest}: the regular way to end the job."
        case "ends" | "unknown":
            return f"Then {rest} may continue without a launcher that terminates or restarts them."
        case "pauses":
            return f"Meanwhile {rest} continue." if ranks != 1 else f"Meanwhile {rest} continues."
        case _:
            return ""


def _after_workers(name: str, workers: Sequence[JobProcess]) -> str:
    fates = {fate(name, worker) for worker in workers}
    ranks = tuple(sorted({worker.rank for worker in workers if worker.rank is not None}))
    is_one = len(ranks) == 1
    if fates & {"ends", "unknown"}:
        fail = "fails" if is_one else "fail"
        return f"Then {named(ranks)} {fail} with “DataLoader worker exited unexpectedly”."
    waits = "waits for its" if is_one else "wait for their"
    return f"Meanwhile {named(ranks)} {waits} data." if "pauses" in fates else ""
