"""`hwtop replay`: a recording on the screen, or diagnosed."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.diagnose import print_report, report_flags
from hwtop.commands.options import settings, settings_of
from hwtop.errors import UsageError

if TYPE_CHECKING:
    from hwtop.config import SymptomConfig
    from hwtop.model.frame import Frame


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--diagnose", is_flag=True, help="Print what is wrong at the end of the recording, as `hwtop diagnose` does."
)
@click.option("--at", metavar="TIME", help="End at this time: 14:02, 14:02:10, or -3m (before the end).")
@report_flags
@settings
@click.pass_context
def command(
    ctx: click.Context, file: Path, diagnose: bool, at: str | None, as_json: bool, markdown: bool, fail_on: str
) -> None:
    """Show FILE, which `hwtop record` has written. All rules run again: an old recording gains from new rules.

    The exit code of --diagnose is that of `hwtop diagnose`.
    """
    if not diagnose:
        raise UsageError("pass --diagnose")
    frame = frame_at(file, at, settings_of(ctx).symptoms)
    ctx.exit(print_report(frame, as_json=as_json, markdown=markdown, fail_on=fail_on))


def frame_at(file: Path, at: str | None, symptoms: SymptomConfig) -> Frame:
    """What hwtop makes of a recording at the time `at`, or at its end. What had to be left out is reported on standard error.

    Raises:
        UsageError: the file cannot be replayed, or it has nothing before this time.
    """
    from hwtop.feed.feed import frames
    from hwtop.fields import units
    from hwtop.seconds import meant_s
    from hwtop.store.reader import Recording

    recording = Recording(file)
    until_s = recording.last_s if at is None else meant_s(at, recording.last_s)
    if until_s is None:
        raise UsageError(f"{at!r} is not a valid time: use e.g. 14:02, 14:02:10 or -3m")
    found = deque(frames(recording.snapshots(until_s), symptoms=symptoms), maxlen=1)
    for problem in recording.problems:
        print(f"hwtop: {problem}", file=sys.stderr)
    if not found:
        raise UsageError(f"no snapshot to replay up to {units.clock(until_s)}")
    return found[0]
