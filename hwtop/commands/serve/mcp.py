"""`hwtop mcp`: a server for coding agents."""

from __future__ import annotations

import sys

import click

from hwtop.commands.shared.message_streams import own_streams
from hwtop.commands.shared.options import settings, settings_of


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
    source, sink = own_streams()
    Server(source, sink, TOOLS, settings_of(ctx)).serve()
