"""`hwtop screenshot`: the screen without a terminal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click
from msgspec.structs import replace

from hwtop.commands.shared import completers, pictures
from hwtop.commands.shared.options import check_folder, masking, reading, settings, settings_of
from hwtop.commands.shared.target import target, target_of, target_or_none
from hwtop.commands.shared.values import Seconds, Size
from hwtop.errors import UsageError
from hwtop.job.secrets import Hidden
from hwtop.ui.pages.registry import NAMES

_ALL = "all"


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
    help="Output file: FILE.png, FILE.svg, FILE.html or FILE.txt.",
)
@click.option("--size", type=Size(), default="120x40", show_default=True, help="Size of the screen in characters.")
@click.option(
    "--for",
    "seconds",
    type=Seconds(1, 3600),
    default=None,
    help="How long to watch before.  [default: until the first verdict, 11 s at most]",
)
@click.option(
    "--page",
    type=click.Choice((*NAMES, _ALL)),
    default="overview",
    show_default=True,
    help="Page to show; all: each page in a file of its own, FILE-ranks.png.",
)
@click.option("--panel", metavar="NAME", default="", help="Only this panel of the page, e.g. ranks.")
@masking
@click.option(
    "--theme", default="hwtop", shell_complete=completers.themes, show_default=True, help="Theme of the picture."
)
@click.option("--ascii", "is_ascii", is_flag=True, help="Use no block or braille characters (.txt only).")
@settings
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    replay: Path | None,
    at: str | None,
    output: Path,
    size: tuple[int, int],
    seconds: float | None,
    page: str,
    panel: str,
    hidden: tuple[Hidden, ...],
    theme: str,
    is_ascii: bool,
) -> None:
    """Watch the job of PID, then save the screen as a picture or as text. Secrets are masked."""
    from hwtop.ui.pictures.shot import FORMATS, Shot

    form = next((each for each in FORMATS if output.suffix.lower() == f".{each}"), None)
    if form is None:
        raise UsageError(f"unknown format of {str(output)!r}: use a name that ends in .png, .svg, .html or .txt")
    check_folder(output)
    if panel and page == _ALL:
        raise UsageError("--panel is on one page: use --page NAME with it")
    target_pid = target_of(ctx) if replay is None else target_or_none(ctx)
    if replay is None and at is not None:
        raise UsageError("--at needs --replay: a live watch has no other time than now")

    from hwtop.commands.saved.replay import frame_at
    from hwtop.feed.watch import first_verdict, last_frame, watch
    from hwtop.symptoms.verdict import VERDICT_S
    from hwtop.ui import themes
    from hwtop.ui.pictures import screenshot
    from hwtop.ui.settings.adoption import configured

    config = settings_of(ctx)
    themes.check(theme)  # before the wait, not after it
    if replay is not None:
        frame = frame_at(replay, at, config.symptoms)
    else:
        most_s = VERDICT_S if seconds is None else seconds
        with closing(watch(target_pid, seconds=most_s, log_globs=logs, gpus=gpus, symptoms=config.symptoms)) as coming:
            frame = first_verdict(coming) if seconds is None else last_frame(coming)
    shot = Shot(
        view=replace(configured(config).opened(frame), page=NAMES[0] if page == _ALL else page),
        size=size,
        paints=screenshot.looks(theme),
        formats=(form,),
        panel=panel,
        has_all_pages=page == _ALL,
        hidden=hidden,
        is_ascii=is_ascii,
    )
    for file in pictures.write(pictures.masked(shot), output.with_suffix("")):
        print(file)
