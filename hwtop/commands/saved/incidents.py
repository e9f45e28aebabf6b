"""`hwtop incidents`: what was saved of jobs that hung or crashed."""

from __future__ import annotations

import html
import time

import click

_MOST_REPORT_BYTES = 4 << 20


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List what hwtop saved of jobs that hung or crashed while it watched them, the newest first.

    They are in ~/.local/state/hwtop/incidents: one bundle each, with secrets masked. `[incidents] save = false` in the settings turns this off.
    """
    if ctx.invoked_subcommand is None:
        _print_list()


@command.command("show", short_help="Print where an incident is, and its report.")
@click.argument("name")
def show(name: str) -> None:
    """Print the path of incident NAME and its report."""
    from hwtop.bundle import incidents, opened
    from hwtop.job.log.own_report import signed

    place = incidents.named(name)
    print(place)
    print()
    print(signed(opened.text(place, "report.md", _MOST_REPORT_BYTES)), end="")


@command.command("prune", short_help="Remove the oldest incidents.")
@click.option("--keep", type=click.IntRange(0), default=0, show_default=True, help="How many to keep.")
def prune(keep: int) -> None:
    """Remove all incidents but the newest ones."""
    from hwtop.bundle import incidents

    print(f"removed {incidents.prune(keep)} incidents from {incidents.folder()}")


def _print_list() -> None:
    from hwtop.bundle import incidents, opened
    from hwtop.errors import UsageError
    from hwtop.job.log.text import visible

    found = incidents.everything()
    if not found:
        print(f"no incidents in {incidents.folder()}")
    for place in found:
        try:
            title = opened.text(place, "report.md", _MOST_REPORT_BYTES).partition("\n")[0].removeprefix("# ")
            report = html.unescape(title)
        except UsageError as error:
            report = str(error)
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(place.stat().st_mtime))
        print(visible(f"{place.stem}  {when}  {report}"))
