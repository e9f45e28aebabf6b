"""`hwtop heartbeat`: the one file that a training needs to tell hwtop its step."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Print a Python file to put beside the training script, for environments without hwtop.

    \b
    hwtop heartbeat > hwtop_heartbeat.py
    then, in the training:
        from hwtop_heartbeat import heartbeat
        ...
        heartbeat(step=step, loss=loss_value, lr=lr)

    Where hwtop is installed: from hwtop import heartbeat. It needs only the standard library, takes about a microsecond a
    call, never raises and never blocks. Numbers only: give loss.item() where you have it anyway, not a tensor.
    """
    from inspect import getsource
    from sys import modules

    print(getsource(modules["hwtop.heartbeat"]), end="")
