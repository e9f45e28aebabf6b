"""`hwtop agent`: reports this node to `hwtop fleet`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable

import click

from hwtop.commands.options import Seconds, end_as_interrupted, resolve_target, settings


@click.command()
@settings
@click.option(
    "--name", metavar="PATTERN", help="The job whose command line matches this regular expression; {host} is the node."
)
@click.option("-p", "--pid", metavar="PID", help="The job that this process belongs to. Also slurm:JOBID[.STEP].")
@click.option("--node", metavar="NAME", help="Name of this node in the messages.  [default: Slurm's, else the host's]")
@click.option(
    "-i", "--interval", type=Seconds(0.2, 60), default="1s", show_default=True, help="Time between two reports."
)
@click.option(
    "--for", "seconds", type=Seconds(1, 86400 * 7), default="12h", show_default=True, help="End after so long."
)
@click.option("--lines", is_flag=True, help="Write lines of text, for launchers that mix the output of all nodes.")
def command(name: str | None, pid: str | None, node: str | None, interval: float, seconds: float, lines: bool) -> None:
    """Report the job on this node on standard output, for `hwtop fleet`, which starts it on each node. Without --pid or --name: the only
    training job there is.

    It opens no port and writes no file, only reads what its user may read, and ends with its reader.
    """
    from hwtop.errors import UsageError
    from hwtop.fleet.agent import run
    from hwtop.fleet.lines import lines as as_lines

    if sys.stdout.isatty():
        raise UsageError("`hwtop agent` is started by `hwtop fleet`, which reads what it writes: see hwtop fleet -h")
    node_name = node or os.environ.get("SLURMD_NODENAME") or os.uname().nodename
    end_as_interrupted()
    source, sink = os.fdopen(os.dup(0), "rb"), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    pack: Callable[[bytes], Iterable[bytes]] = (
        (lambda data: as_lines(node_name, data)) if lines else (lambda data: (data,))
    )

    def write(data: bytes) -> None:
        for part in pack(data):
            while part:
                part = part[os.write(sink, part) :]

    def find() -> int | None:
        pattern = None if name is None else name.replace("{host}", re.escape(node_name))
        return resolve_target(None, pid, pattern, required=False)

    try:
        run(node_name, find, interval_s=interval, most_s=seconds, source=source, write=write)
    except KeyboardInterrupt:
        os._exit(130)
