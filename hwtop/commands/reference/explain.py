"""`hwtop explain SYMPTOM`: what it means, when it is raised, what to do."""

from __future__ import annotations

import click

from hwtop.commands.shared import completers
from hwtop.commands.shared.options import json_flag, settings, settings_of


@click.command()
@click.argument("symptom", metavar="SYMPTOM", shell_complete=completers.symptoms)
@json_flag
@settings
@click.pass_context
def command(ctx: click.Context, symptom: str, as_json: bool) -> None:
    """Explain a symptom: what it means, when it is raised, what to do, and what would disprove it."""
    from hwtop.report.symptoms import check_symptom, explain_text, symptom_json
    from hwtop.symptoms.rules import RULES
    from hwtop.symptoms.thresholds import with_thresholds

    check_symptom(symptom)
    rules = with_thresholds(RULES, settings_of(ctx).symptoms.thresholds)
    for line in [symptom_json(symptom, rules)] if as_json else explain_text(symptom, rules):
        print(line)
