"""`hwtop preflight`: checks before a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared import status_line
from hwtop.commands.shared.checks import Form, answer, report
from hwtop.commands.shared.nodes import launcher_of, names_nodes, nodes
from hwtop.commands.shared.options import json_flag
from hwtop.commands.shared.target import resolve_target
from hwtop.errors import UsageError

if TYPE_CHECKING:
    from hwtop.model.fleet import Node


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
@click.option("--nodes", "on_nodes", is_flag=True, help="Check all nodes of this Slurm job, or those named below.")
@nodes
@click.option("--agent", metavar="COMMAND", help="How to run hwtop on the nodes, as of hwtop fleet.")
@json_flag
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    subject: str | None,
    python: str | None,
    is_fast: bool,
    on_nodes: bool,
    agent: str | None,
    as_json: bool,
    markdown: bool,
) -> None:
    """Check this machine, or all nodes of a job, before a run: GPUs, driver, links, memory, limits, storage, network, torch, and the
    script.

    The script is only read, never run. torch is tried in its own interpreter, as a child with a deadline. Nothing is left on disk.
    Of several nodes each check is shown once, and nodes that answer otherwise than most are marked.

    Exit code: 0 neither warnings nor failures, 1 warnings, 2 failures (or not possible, with the reason).
    """
    if as_json and markdown:
        raise UsageError("--json and --markdown cannot be combined: choose one")
    form: Form = "json" if as_json else "markdown" if markdown else "text"
    is_job = subject is not None and (subject.isdigit() or subject.startswith("slurm:"))
    if on_nodes or names_nodes(ctx):
        if is_job:
            raise UsageError("on several nodes --for takes a training script, by a path that all of them have")
        options = [*(["--fast"] if is_fast else []), *(["--python", python] if python else [])]
        options += ["--script", subject] if subject else []
        _report_nodes(ctx, agent, tuple(options), form)
        return
    if agent is not None:
        raise UsageError("--agent needs nodes: --nodes in a Slurm job, or --hosts a,b,c")
    from hwtop.preflight.machine import Machine
    from hwtop.preflight.registry import chosen

    pid = resolve_target(subject, None, None, required=True) if is_job else None
    script = None if subject is None or is_job else Path(subject)
    if script is not None and not script.is_file():
        raise UsageError(f"no such file: {script}; --for takes a training script or a PID")
    machine = Machine(pid=pid, python=python, script=script)
    report(ctx, chosen(is_fast=is_fast), machine, form)


def _report_nodes(ctx: click.Context, agent: str | None, options: tuple[str, ...], form: Form) -> None:
    from hwtop.fleet.checks import compared, readings
    from hwtop.fleet.launchers.launcher import Agent
    from hwtop.fleet.live import LiveFleet
    from hwtop.report.preflight import nodes_report

    fleet = LiveFleet(launcher_of(ctx, takes_own_job=True), Agent(program=agent, checks=options))
    found: tuple[Node, ...] = ()
    for found in readings(fleet):
        done = sum(node.status not in ("connecting", "reporting") for node in found)
        status_line.show(f"{done} of {len(found)} nodes are through")
    status_line.show("")
    checks = compared(found)
    odd = {each.result.id: each.odd for each in checks}
    answer(ctx, form, nodes_report(found, checks), odd)
