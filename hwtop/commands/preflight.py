"""`hwtop preflight`: checks before a run."""

from __future__ import annotations

import click

from hwtop.commands.checks import Form, report
from hwtop.commands.options import resolve_target
from hwtop.errors import UsageError


@click.command()
@click.option(
    "--for", "subject", metavar="SCRIPT_OR_PID", help="The training script, or any process of a job that runs."
)
@click.option("--python", metavar="PATH", help="Interpreter of the training.  [default: python3 in PATH]")
@click.option(
    "--fast/--full",
    "is_fast",
    default=False,
    help="Leave out what writes or starts another interpreter.  [default: full]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.pass_context
def command(
    ctx: click.Context, subject: str | None, python: str | None, is_fast: bool, as_json: bool, markdown: bool
) -> None:
    """Check this machine before a run: GPUs, driver, links, memory, limits, storage, network, torch, and the script.

    The script is only read, never run. torch is tried in its own interpreter, as a child with a deadline. Nothing is left on disk.

    Exit code: 0 neither warnings nor failures, 1 warnings, 2 failures (or not possible, with the reason).
    """
    from pathlib import Path

    from hwtop.preflight.machine import Machine
    from hwtop.preflight.registry import chosen

    if as_json and markdown:
        raise UsageError("--json and --markdown cannot be combined: choose one")
    form: Form = "json" if as_json else "markdown" if markdown else "text"
    is_job = subject is not None and (subject.isdigit() or subject.startswith("slurm:"))
    pid = resolve_target(subject, None, None, required=True) if is_job else None
    script = None if subject is None or is_job else Path(subject)
    if script is not None and not script.is_file():
        raise UsageError(f"no such file: {script}; --for takes a training script or a PID")
    machine = Machine(pid=pid, python=python, script=script)
    report(ctx, chosen(is_fast=is_fast), machine, form)
