"""`hwtop bundle`: what a colleague needs to see of a job, in one file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop import atomic_file
from hwtop.commands.options import (
    Bytes,
    Seconds,
    end_as_interrupted,
    masking,
    reading,
    resolve_target,
    settings,
    settings_of,
    target,
)
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.config import Config
    from hwtop.job.secrets import Hidden
    from hwtop.model.frame import Frame

_PICTURE = (120, 40)
"""Columns and rows."""


@click.command()
@target
@reading
@settings
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to create, e.g. b.zip.")
@click.option(
    "--for", "seconds", type=Seconds(3, 3600), default="10s", show_default=True, help="How long to watch and record."
)
@masking
@click.option(
    "--max-size",
    type=Bytes(1 << 20),
    default="100M",
    show_default=True,
    help="Size of all contents before compression; what does not fit is left out, and listed.",
)
@click.pass_context
def command(
    ctx: click.Context,
    pid: str | None,
    pid_option: str | None,
    name: str | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    output: Path,
    seconds: float,
    hidden: tuple[Hidden, ...],
    max_size: int,
) -> None:
    """Watch the job that PID belongs to, and collect what a colleague needs to see of it in one zip file that only you can read.

    It holds the report, versions, variables, hardware, command lines, git state, logs, stacks, Flight Recorder dumps, kernel log, a recording and a
    picture. Secrets are masked in all of it. manifest.json lists what was masked where, and what was not collected and why. `hwtop replay` shows it.
    """
    from hwtop.bundle.make import Order, bundle
    from hwtop.bundle.mask import Mask
    from hwtop.fields import units
    from hwtop.job.log.text import visible

    target_pid = resolve_target(pid, pid_option, name, required=True)
    assert target_pid is not None
    if output.exists():
        raise UsageError(f"{str(output)!r} exists: bundles never replace a file, so choose another name")
    if not output.absolute().parent.is_dir():
        raise UsageError(f"cannot create {str(output)!r}: there is no such folder")
    config = settings_of(ctx)
    order = Order(
        pid=target_pid, seconds=seconds, log_globs=logs, gpus=gpus, symptoms=config.symptoms, most_bytes=max_size
    )
    end_as_interrupted()
    with tempfile.TemporaryDirectory(prefix="hwtop-") as folder:
        content = bundle(order, Mask(hidden), Path(folder), _show, lambda frame: _pictures(frame, config))
    try:
        atomic_file.write(output, content)
    except OSError as error:
        raise CannotError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    finally:
        _show("")
    print(visible(f"{output}: {units.size(len(content))}; read its report.md before you share it"))


def _pictures(frame: Frame, config: Config) -> dict[str, str | bytes]:
    from hwtop.fields import levels
    from hwtop.ui.keys.keymap import keymap
    from hwtop.ui.options import ScreenOptions
    from hwtop.ui.pictures import painted, screenshot

    options = ScreenOptions(
        panels=config.panels, keymap=keymap(config.keys), levels=levels.chosen(config.symptoms.thresholds)
    )
    view = options.opened(frame)
    return {
        "overview.txt": screenshot.text(view, _PICTURE),
        "overview.png": painted.png(screenshot.svg(view, _PICTURE)),
    }


def _show(text: str) -> None:
    """What is being done, on the line of the terminal that the next one overwrites."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
