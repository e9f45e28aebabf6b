"""`hwtop prepare`: what to switch on before a run, so that a hang can be diagnosed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hwtop.commands.shared import completers
from hwtop.commands.shared.target import resolve_target
from hwtop.errors import CannotError

if TYPE_CHECKING:
    from hwtop.report.prepare import Form


@click.command()
@click.option("--bash", "form", flag_value="bash", default="bash", help="Print lines for a shell.  [default]")
@click.option("--slurm", "form", flag_value="slurm", help="Print lines for a batch script of Slurm.")
@click.option("--python", "form", flag_value="python", help="Print lines for the training script.")
@click.option(
    "--check", "pid", metavar="PID", shell_complete=completers.jobs, help="Print what a running job has switched on."
)
def command(form: Form, pid: str | None) -> None:
    """Print what to switch on before a run so that a hang can be diagnosed: environment variables, each with benefit, cost and version.

    Nothing is changed. With --check PID: what the job that PID belongs to has switched on.
    """
    from hwtop.report.prepare import block

    if pid is None:
        print(block(form), end="")
        return
    print(_checked(resolve_target(pid, None, None, required=True)), end="")


def _checked(pid: int | None) -> str:
    from hwtop.collectors.process.source import ProcessSource
    from hwtop.job.launch.tree import members
    from hwtop.report.job.stacks import watched
    from hwtop.report.prepare import on_text

    assert pid is not None
    reading = ProcessSource(pid).read()
    known = watched(members(reading.processes), pid)
    pids = {member.pid for member in known if member.role == "rank"}
    processes = [process for process in reading.processes if process.pid in pids]
    if not processes:
        raise CannotError(f"process {pid} has ended")
    return on_text(processes, known)
