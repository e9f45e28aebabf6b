"""The job that a command is about: PID, -p/--pid and --name."""

from __future__ import annotations

import re

import click

from hwtop.commands.shared import completers
from hwtop.commands.shared.options import F, keep, kept, kept_option
from hwtop.errors import UsageError


def target(function: F) -> F:
    """PID, -p/--pid and --name: which job. `target_of` and `target_or_none` return it."""
    for option in (
        kept_option(
            "--name", "name", metavar="PATTERN", help="The job whose command line matches this regular expression."
        ),
        kept_option(
            "-p",
            "--pid",
            "pid_option",
            metavar="PID",
            shell_complete=completers.jobs,
            help="Same as PID. Also slurm:JOBID[.STEP].",
        ),
        click.argument(
            "pid",
            required=False,
            metavar="[PID]",
            shell_complete=completers.jobs,
            expose_value=False,
            callback=keep,
        ),
    ):
        function = option(function)
    return function


def given_target(ctx: click.Context) -> list[str | None]:
    """What was given as PID, --pid and --name."""
    return kept(ctx, "pid", "pid_option", "name")


def target_of(ctx: click.Context) -> int:
    """The PID of the job, which must be given; raises as `resolve_target`."""
    pid = resolve_target(*given_target(ctx), required=True)
    assert pid is not None
    return pid


def target_or_none(ctx: click.Context) -> int | None:
    """The PID of the job; None where none is given. Raises as `resolve_target`."""
    return resolve_target(*given_target(ctx), required=False)


def resolve_target(pid: str | None, pid_option: str | None, name: str | None, *, required: bool) -> int | None:
    """The PID that was given, checked to exist.

    Raises:
        UsageError: none or several were given, it is neither a number nor slurm:JOBID, or no such process exists.
        CannotError: the Slurm job runs elsewhere.
    """
    from hwtop.collectors.process.candidates import find_by_name

    given = [value for value in (pid, pid_option, name) if value is not None]
    if len(given) > 1:
        raise UsageError("give only one of PID, --pid and --name")
    if not given:
        if required:
            raise UsageError(
                "no job given: pass the PID of any of its processes; `hwtop` without PID lists the training jobs"
            )
        return None
    if name is not None:
        return find_by_name(name)
    if given[0].startswith("slurm:"):
        from hwtop.collectors.process.slurm import find_slurm_job

        return find_slurm_job(given[0])
    if not re.fullmatch(r"\d{1,10}", given[0]) or int(given[0]) == 0:
        raise UsageError(f"{given[0]!r} is neither a PID nor a command: `hwtop -h` lists the commands")
    return _running(int(given[0]))


def _running(pid: int) -> int:
    """The process to watch; of one that has ended, what was saved of it.

    Raises:
        UsageError: there is no such process.
    """
    from hwtop.bundle import incidents
    from hwtop.collectors.process.source import check_target

    try:
        return check_target(pid)
    except UsageError as error:
        saved = next((place.stem for place in incidents.everything() if place.stem.startswith(f"{pid}-")), None)
        if saved is None:
            raise
        raise UsageError(
            f"no process {pid}: it has ended; `hwtop incidents show {saved}` is what was saved of it"
        ) from error
