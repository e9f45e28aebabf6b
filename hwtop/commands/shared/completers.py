"""What a shell is offered for values: PIDs, symptoms, themes, demo jobs."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def jobs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """PIDs of the training jobs on this machine, after the commands where a command is possible."""
    from hwtop.collectors.process.candidates import CandidateSource
    from hwtop.job.log.text import visible

    found = [
        CompletionItem(str(job.pid), help=visible(job.title))
        for job in CandidateSource().read().candidates
        if job.kind == "training" and str(job.pid).startswith(incomplete)
    ]
    return [*_commands(ctx.find_root(), incomplete), *found] if ctx.info_name == "live" else found


def _commands(root: click.Context, incomplete: str) -> list[CompletionItem]:
    group = root.command
    assert isinstance(group, click.Group)
    found = ((name, group.get_command(root, name)) for name in group.list_commands(root) if name.startswith(incomplete))
    return [CompletionItem(name, help=item.get_short_help_str(80)) for name, item in found if item is not None]


def themes(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of themes."""
    from hwtop.ui.themes import AUTO, NAMES

    return [name for name in (AUTO, *NAMES) if name.startswith(incomplete)]


def symptoms(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Ids of symptoms."""
    from hwtop.symptoms.records import records

    return [name for name in records() if name.startswith(incomplete)]


def scenarios(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of demo jobs."""
    from hwtop.demo.catalogue import demos

    return [CompletionItem(job.name, help=job.description) for job in demos() if job.name.startswith(incomplete)]
