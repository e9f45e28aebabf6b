"""`hwtop replay`: a recording, or that of a bundle, on the screen or diagnosed."""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from hwtop.commands.job.diagnose import print_report, report_flags
from hwtop.commands.shared import screen
from hwtop.commands.shared.options import length, length_of, settings_of
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.config import SymptomConfig
    from hwtop.model.frame import Frame
    from hwtop.store.reader import FleetRecording, Recording


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--at",
    metavar="TIME",
    help="Begin at this time: 14:02, 14:02:10, or -3m (before the end).  [default: the first warning of the first minute, else 11 s after the start; of a bundle the end]",
)
@click.option(
    "--diagnose", is_flag=True, help="Print what is wrong at the end, or at the time --at, as `hwtop diagnose` does."
)
@report_flags
@length
@screen.looks
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: Path,
    at: str | None,
    diagnose: bool,
    as_json: bool,
    markdown: bool,
    fail_on: str,
    **_: object,
) -> None:
    """Show FILE, which `hwtop record`, `hwtop fleet --record` or `hwtop bundle` has written. All rules run again: an old recording gains
    from new rules.

    The exit code of --diagnose is that of `hwtop diagnose`.
    """
    from hwtop.bundle import opened

    form = length_of(ctx, as_json=as_json)
    if diagnose or as_json or markdown or form.is_short:
        frame = frame_at(file, at, settings_of(ctx).symptoms)
        if frame.nodes and frame.derived.job is None:
            from hwtop.fleet.watch import without_job

            raise CannotError(without_job(frame.nodes))
        ctx.exit(print_report(frame, form, as_json=as_json, markdown=markdown, fail_on=fail_on))
    recording = opened.any_recording(file)
    show(screen.opening(ctx), recording, file.name, at, is_bundle=opened.is_bundle(file))


def show(
    opening: screen.Opening, recording: Recording | FleetRecording, name: str, at: str | None, *, is_bundle: bool
) -> None:
    """The screen of a recording, until the user quits. A bundle was made of what was seen at its end.

    Raises:
        UsageError: `at` is not a time.
    """
    from hwtop.commands.job import live
    from hwtop.config import NO_ALERTS
    from hwtop.job.log.text import visible
    from hwtop.ui.keys import names as key_names
    from hwtop.ui.loader import Loader
    from hwtop.ui.pages import actions
    from hwtop.ui.playback import Playback

    open_at_s = moment(recording, at)
    if open_at_s is None and is_bundle:
        open_at_s = recording.last_s
    loader = Loader(frames_of(recording, opening.config.symptoms), open_at_s)
    playback = Playback(visible(name), recording.last_s, open_at_s)
    keys = actions.complete(opening.options.keymap)
    note = f"{key_names.first('turn-on', keys)} goes to the next finding, {key_names.first('turn-back', keys)} to the previous one, {key_names.first('pause', keys)} plays"
    options = replace(
        opening.options,
        playback=playback,
        alerts=NO_ALERTS,
        is_readonly=True,
        note=opening.options.note if at or is_bundle else note,
    )
    live.run(replace(opening, options=options), loader.start)
    _report([*recording.problems, *([loader.failure] if loader.failure else [])])


def frame_at(file: Path, at: str | None, symptoms: SymptomConfig) -> Frame:
    """What hwtop makes of a recording at the time `at`, or at its end. What had to be left out is reported on standard error.

    Raises:
        UsageError: the file cannot be replayed, or it has nothing before this time.
    """
    from hwtop.bundle import opened
    from hwtop.seconds import clock

    recording = opened.any_recording(file)
    until_s = moment(recording, at) or recording.last_s
    found = deque(frames_of(recording, symptoms, until_s), maxlen=1)
    _report(recording.problems)
    if not found:
        times = (clock(frame.derived.time_s) for frame in frames_of(recording, symptoms))
        covers = f": it begins at {begin}, and ends at {clock(recording.last_s)}" if (begin := next(times, "")) else ""
        raise UsageError(f"no snapshot to replay up to {clock(until_s)}{covers}")
    return found[0]


def frames_of(
    recording: Recording | FleetRecording, symptoms: SymptomConfig, until_s: float = math.inf
) -> Iterator[Frame]:
    """What hwtop makes of all that was recorded up to this time."""
    from hwtop.feed.feed import frames
    from hwtop.fleet.assemble import FleetAssembler
    from hwtop.store.reader import FleetRecording

    if isinstance(recording, FleetRecording):
        return map(FleetAssembler(symptoms).advance, recording.readings(until_s))
    return frames(recording.snapshots(until_s), symptoms=symptoms)


def moment(recording: Recording | FleetRecording, at: str | None) -> float | None:
    """The time that is meant, seconds after the epoch; None where none is given.

    Raises:
        UsageError: it is not a time.
    """
    from hwtop.seconds import meant_s

    found = None if at is None else meant_s(at, recording.last_s)
    if at is not None and found is None:
        raise UsageError(f"{at!r} is not a valid time: use e.g. 14:02, 14:02:10 or -3m")
    return found


def _report(problems: list[str]) -> None:
    for problem in problems:
        print(f"hwtop: {problem}", file=sys.stderr)
