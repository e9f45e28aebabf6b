"""`hwtop symptoms`: all symptoms, with thresholds."""

from __future__ import annotations

import click

from hwtop.commands.shared.options import settings, settings_of
from hwtop.errors import UsageError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per symptom, each on one line.")
@settings
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the documentation page.")
@click.pass_context
def command(ctx: click.Context, as_json: bool, as_markdown: bool) -> None:
    """List all symptoms and when each is raised."""
    from hwtop.report.symptoms import list_text, page_markdown, symptom_json
    from hwtop.symptoms.records import records
    from hwtop.symptoms.rules import RULES
    from hwtop.symptoms.thresholds import with_thresholds

    if as_json and as_markdown:
        raise UsageError("--json and --markdown cannot be combined: choose one")
    if as_markdown:
        print(page_markdown(RULES), end="")
        return
    rules = with_thresholds(RULES, settings_of(ctx).symptoms.thresholds)
    for line in [symptom_json(name, rules) for name in records()] if as_json else list_text(rules):
        print(line)
