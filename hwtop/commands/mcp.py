"""`hwtop mcp`: a server for coding agents."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

import click

from hwtop.commands.options import settings, settings_of


@click.command()
@settings
@click.pass_context
def command(ctx: click.Context) -> None:
    """Serve the Model Context Protocol on standard input and output. A coding agent starts it, and ends it by closing its input.

    It only reads. What would pause, change or end a job is returned as a command for the user.
    """
    from hwtop.errors import UsageError
    from hwtop.mcp.server import Server
    from hwtop.mcp.tools import TOOLS

    if sys.stdin.isatty():
        raise UsageError("`hwtop mcp` is started by a coding agent: docs/scripts.md says how to configure it")
    source, sink = _own_streams()
    Server(source, sink, TOOLS, settings_of(ctx)).serve()


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output, for messages alone: all else that reads gets nothing, and all else that is printed goes to
    standard error, also of child processes."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink
