"""`hwtop agent`: reports this node to `hwtop fleet`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import BinaryIO

import click

from hwtop.commands.shared.message_streams import own_streams
from hwtop.commands.shared.options import end_as_interrupted, settings
from hwtop.commands.shared.target import resolve_target
from hwtop.commands.shared.values import Seconds


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
@click.option("--preflight", is_flag=True, help="Make the checks of `hwtop preflight` instead, and report them.")
@click.option("--fast", "is_fast", is_flag=True, help="With --preflight: as there.")
@click.option("--python", metavar="PATH", help="With --preflight: as there.")
@click.option("--script", metavar="PATH", help="With --preflight: the training script, as its --for.")
@click.option("--lines", is_flag=True, help="Write lines of text, for launchers that mix the output of all nodes.")
def command(
    name: str | None,
    pid: str | None,
    node: str | None,
    interval: float,
    seconds: float,
    preflight: bool,
    is_fast: bool,
    python: str | None,
    script: str | None,
    lines: bool,
) -> None:
    """Report the job on this node on standard output, for `hwtop fleet`, which starts it on each node. Without --pid or --name: the only
    training job there is.

    It opens no port and writes no file, only reads what its user may read, and ends with its reader.
    """
    from hwtop.errors import UsageError
    from hwtop.fleet import agent
    from hwtop.fleet.lines import lines as as_lines

    if sys.stdout.isatty():
        raise UsageError("`hwtop agent` is started by `hwtop fleet`, which reads what it writes: see hwtop fleet -h")
    node_name = node or os.environ.get("SLURMD_NODENAME") or os.uname().nodename
    end_as_interrupted()
    source, sink = own_streams()
    pack: Callable[[bytes], Iterable[bytes]] = (
        (lambda data: as_lines(node_name, data)) if lines else (lambda data: (data,))
    )

    def write(data: bytes) -> None:
        for part in pack(data):
            while part:
                part = part[os.write(sink.fileno(), part) :]

    def find() -> int | None:
        pattern = None if name is None else name.replace("{host}", re.escape(node_name))
        return resolve_target(None, pid, pattern, required=False)

    try:
        if preflight:
            _preflight(node_name, source, write, is_fast=is_fast, python=python, script=script)
        else:
            agent.run(node_name, find, interval_s=interval, most_s=seconds, source=source, write=write)
    except KeyboardInterrupt:
        os._exit(130)


def _preflight(
    node: str,
    source: BinaryIO,
    write: Callable[[bytes], None],
    *,
    is_fast: bool,
    python: str | None,
    script: str | None,
) -> None:
    from pathlib import Path

    from hwtop.fleet import check_agent
    from hwtop.preflight.machine import Machine
    from hwtop.preflight.registry import chosen

    machine = Machine(python=python, script=None if script is None else Path(script), is_one_of_several=True)
    check_agent.run(node, chosen(is_fast=is_fast), machine, source=source, write=write)
