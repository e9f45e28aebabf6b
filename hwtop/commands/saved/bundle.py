"""`hwtop bundle`: what a colleague needs to see of a job, in one file."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from hwtop import atomic_file
from hwtop.commands.shared import status_line
from hwtop.commands.shared.options import check_folder, end_as_interrupted, masking, reading, settings, settings_of
from hwtop.commands.shared.target import target, target_of
from hwtop.commands.shared.values import Bytes, Seconds
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.bundle.evidence import Seen
    from hwtop.config import Config, SymptomConfig
    from hwtop.job.secrets import Hidden
    from hwtop.model.frame import Frame
    from hwtop.model.snapshot import Snapshot
    from hwtop.ui.pictures.shot import Shot

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

    target_pid = target_of(ctx)
    if output.exists():
        raise UsageError(f"{str(output)!r} exists: bundles never replace a file, so choose another name")
    check_folder(output)
    config = settings_of(ctx)
    order = Order(
        pid=target_pid, seconds=seconds, log_globs=logs, gpus=gpus, symptoms=config.symptoms, most_bytes=max_size
    )
    end_as_interrupted()
    with tempfile.TemporaryDirectory(prefix="hwtop-") as folder:
        content = bundle(order, Mask(hidden), Path(folder), status_line.show, lambda frame: _pictures(frame, config))
    try:
        atomic_file.write(output, content)
    except OSError as error:
        raise CannotError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    finally:
        status_line.show("")
    print(visible(f"{output}: {units.size(len(content))}; read its report.md before you share it"))


def _pictures(frame: Frame, config: Config) -> dict[str, str | bytes]:
    from hwtop.ui.pictures import painted, screenshot
    from hwtop.ui.settings.adoption import configured

    view = configured(config).opened(frame)
    return {
        "overview.txt": screenshot.text(view, _PICTURE),
        "overview.png": painted.png(screenshot.svg(view, _PICTURE)),
    }


def bundle_of_watch(
    shot: Shot,
    frame: Frame,
    seen: Seen,
    past: Callable[[], Sequence[Snapshot]],
    symptoms: SymptomConfig,
    told: Callable[[str, Path | None], None],
) -> None:
    """Makes a bundle in the home directory of a job that is watched already, with this picture, in a thread."""
    from hwtop.bundle.make import Order, Watched
    from hwtop.bundle.make import bundle_of_watch as made
    from hwtop.bundle.mask import Mask
    from hwtop.fields import units
    from hwtop.ui.pictures import shot as shots

    job = frame.derived.job
    if job is None:
        return
    order = Order(pid=job.target_pid, symptoms=symptoms)

    def drawn(masked: Frame) -> dict[str, str | bytes]:
        ready = replace(shot, view=replace(shot.view, frame=masked), formats=("png", "txt"))
        return {f"screen{ending}": content for ending, content in shots.files(ready)}

    def work() -> None:
        try:
            watched = Watched(frame=frame, seen=seen, snapshots=past())
            with tempfile.TemporaryDirectory(prefix="hwtop-") as folder:
                content = made(order, Mask(), Path(folder), lambda words: told(f"{words} ...", None), drawn, watched)
            place = Path("~").expanduser() / f"{shots.name(shot.view)}.zip"
            atomic_file.write(place, content)
        except Exception as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            told(f"not saved: {reason}", None)
        else:
            told(f"saved, and its path sent to the clipboard: {place} ({units.size(len(content))})", place)

    threading.Thread(target=work, name="hwtop-bundle", daemon=True).start()
