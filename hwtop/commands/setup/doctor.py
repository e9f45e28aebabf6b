"""`hwtop doctor`: what hwtop can and cannot see here."""

from __future__ import annotations

import click

from hwtop.commands.shared.checks import report
from hwtop.commands.shared.options import json_flag
from hwtop.commands.shared.target import target, target_or_none


@click.command()
@target
@json_flag
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Print what hwtop can and cannot see on this machine, and how to change that. With PID also whether it can see that process.

    Exit code: 0 everything is visible, 1 something is not, 2 not possible (with the reason).
    """
    from hwtop.preflight.machine import Machine
    from hwtop.preflight.visibility import VISIBILITY

    machine = Machine(pid=target_or_none(ctx))
    report(ctx, VISIBILITY.checks, machine, "json" if as_json else "text")
