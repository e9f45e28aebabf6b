"""`hwtop demo`: a small training job with a planted fault, and the screen attached to it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from hwtop.commands.shared import completers, screen
from hwtop.commands.shared.values import Seconds
from hwtop.config import IncidentConfig
from hwtop.demo import catalogue
from hwtop.demo.run import DemoJob
from hwtop.demo.scenarios import DEFAULT, Scenario
from hwtop.errors import CannotError, UsageError
from hwtop.report.text_table import aligned
from hwtop.suggestion import one_of


@click.command("demo", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("scenario", default=DEFAULT, shell_complete=completers.scenarios)
@click.option("--list", "is_list", is_flag=True, help="Print the scenarios and exit.")
@click.option("--stdlib", "is_stdlib_forced", is_flag=True, help="Do not use torch, even if it is installed.")
@click.option("--for", "for_s", type=Seconds(1, 86400), help="Exit after this time.")
@screen.flags
@click.pass_context
def command(
    ctx: click.Context, /, scenario: str, is_list: bool, is_stdlib_forced: bool, for_s: float | None, **_: Any
) -> None:
    """Start a small training job with two ranks and watch it. The job ends when you leave the screen.

    SCENARIO is a name from --list, or a symptom that one of the scenarios causes.
    """
    if is_list:
        click.echo(table())
        return
    chosen = catalogue.find(scenario) or catalogue.showing(scenario)
    if chosen is None:
        names = [known.name for known in catalogue.demos()]
        raise UsageError(f"no scenario {scenario!r}: {one_of(scenario, names)}")
    lacking = catalogue.lacking(chosen)
    if lacking:
        raise CannotError(
            f"{chosen.name} needs {' and '.join(lacking)}: {sys.executable} -m pip install {' '.join(lacking)}"
        )
    watch(chosen, screen.opening(ctx), is_stdlib_forced=is_stdlib_forced, for_s=for_s)


def table() -> str:
    """The scenarios, with the symptom that each causes and what it needs."""
    rows = [("SCENARIO", "SYMPTOM", "NEEDS", "DESCRIPTION")]
    for entry in catalogue.demos():
        needs = ", ".join(entry.script.needs) if entry.script else ""
        rows.append((entry.name, entry.symptom or "none", needs or "-", entry.description))
    return "\n".join(aligned(rows))


def watch(scenario: Scenario, opening: screen.Opening, *, is_stdlib_forced: bool, for_s: float | None) -> None:
    """Run the job in a temporary folder while the screen is open; nothing is left behind."""
    from hwtop.commands.job import live
    from hwtop.commands.shared.watching import Watching

    with (
        tempfile.TemporaryDirectory(prefix="hwtop-demo-", ignore_cleanup_errors=True) as folder,
        DemoJob(scenario, Path(folder), is_stdlib_forced=is_stdlib_forced) as job,
    ):
        pid, logs = job.launcher_pid, (job.log_glob,)
        config = structs.replace(opening.config, incidents=IncidentConfig(save=False))
        live.watch(opening, Watching(pid, opening.interval_s, logs, None, config), for_s)
