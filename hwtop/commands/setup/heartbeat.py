"""`hwtop heartbeat`: the one file that a training needs to report its step."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Print a Python module with which a training reports its step, for environments without hwtop.

    \b
    hwtop heartbeat > hwtop_heartbeat.py     # next to the training script
    then, in the training:
        from hwtop_heartbeat import heartbeat
        ...
        heartbeat(step=step, loss=loss_value, lr=lr)

    If hwtop is installed, use: from hwtop import heartbeat. The module needs only the standard library. A call takes about a
    microsecond, never raises and never blocks. It takes numbers, not tensors: pass loss.item() where you compute it anyway.
    """
    from inspect import getsource
    from sys import modules

    print(getsource(modules["hwtop.heartbeat"]), end="")
