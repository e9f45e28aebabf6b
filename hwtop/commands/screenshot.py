"""`hwtop screenshot`: the screen without a terminal."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from hwtop.commands import completion
from hwtop.commands.options import Seconds, Size, reading, resolve_target, settings, settings_of, target
from hwtop.errors import CannotError, UsageError
from hwtop.ui.pages.registry import NAMES


@click.command()
@target
@reading
@click.option("--replay", type=click.Path(path_type=Path), help="Show this recording instead of a job.")
@click.option("--at", metavar="TIME", help="With --replay, the time to show: 14:02, or -3m (before the end).")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Output file: FILE.svg, FILE.png or FILE.txt.",
)
@click.option("--size", type=Size(), default="120x40", show_default=True, help="Size of the screen in characters.")
@click.option(
    "--for",
    "seconds",
    type=Seconds(1, 3600),
    default=None,
    help="How long to watch before.  [default: until the first verdict, 11 s at most]",
)
@click.option("--page", type=click.Choice(NAMES), default="overview", show_default=True, help="Page to show.")
@click.option(
    "--theme", default="hwtop", shell_complete=completion.themes, show_default=True, help="Theme of the picture."
)
@click.option("--ascii", "is_ascii", is_flag=True, help="Use no block or braille characters (.txt only).")
@settings
@click.pass_context
def command(
    ctx: click.Context,
    pid: str | None,
    pid_option: str | None,
    name: str | None,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    replay: Path | None,
    at: str | None,
    output: Path,
    size: tuple[int, int],
    seconds: float | None,
    page: str,
    theme: str,
    is_ascii: bool,
) -> None:
    """Watch the job of PID, then save the screen as a picture or as text."""
    kind = output.suffix.lower()
    if kind not in (".svg", ".png", ".txt"):
        raise UsageError(f"unknown format of {str(output)!r}: use a name that ends in .svg, .png or .txt")
    target_pid = resolve_target(pid, pid_option, name, required=replay is None)
    if replay is None and at is not None:
        raise UsageError("--at needs --replay: a live watch has no other time than now")

    from hwtop.commands.replay import frame_at
    from hwtop.feed.watch import VERDICT_S, first_verdict, last_frame, watch
    from hwtop.fields import levels
    from hwtop.ui import themes
    from hwtop.ui.keys.keymap import keymap
    from hwtop.ui.options import ScreenOptions
    from hwtop.ui.pictures import painted, screenshot

    config = settings_of(ctx)
    options = ScreenOptions(
        panels=config.panels, keymap=keymap(config.keys), levels=levels.chosen(config.symptoms.thresholds)
    )
    themes.check(theme)  # before the wait, not after it
    if replay is not None:
        frame = frame_at(replay, at, config.symptoms)
    else:
        most_s = VERDICT_S if seconds is None else seconds
        with closing(watch(target_pid, seconds=most_s, log_globs=logs, gpus=gpus, symptoms=config.symptoms)) as coming:
            frame = first_verdict(coming) if seconds is None else last_frame(coming)
    view = replace(options.opened(frame), page=page)
    if kind == ".txt":
        content = screenshot.text(view, size, ascii=is_ascii).encode()
    else:
        drawn = screenshot.svg(view, size, theme=theme)
        content = drawn.encode() if kind == ".svg" else painted.png(drawn)
    try:
        output.write_bytes(content)
    except OSError as error:
        raise CannotError(f"cannot write {str(output)!r}: {error.strerror or error}") from None
    print(output)
