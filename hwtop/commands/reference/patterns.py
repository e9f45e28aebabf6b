"""`hwtop patterns`: the log patterns of hwtop and of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hwtop.job.patterns.registry import Registry

_FORMAT = """\b
Your own patterns go to ~/.config/hwtop/patterns.d/ANY.toml, e.g.
    [[pattern]]
    id = "quota-reached"          # a symptom of hwtop (hwtop patterns list) or any other name
    literals = ["quota of project"]   # lower case; only lines that contain one of them are checked
    regex = 'quota of project (?P<project>\\w+) reached'   # optional, ignores case
    unless = 'dry run'            # optional: lines to exclude
    severity = "critical"         # critical, warning or info
    role = "root"                 # root, cascade, confirmation or context
    title = "Quota reached"       # if the id is not a symptom of hwtop
    explanation = "The project's storage quota is used up."
    playbook = ["quota -s   # remaining quota"]   # optional: next steps
    source = "cluster handbook"   # optional"""


@click.group(epilog=_FORMAT)
def command() -> None:
    """List, show and test log patterns, built-in and your own."""


@command.command("list", short_help="List all ids that a log line can raise.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per pattern, each on one line.")
def list_(as_json: bool) -> None:
    """List all ids that a log line can raise: number of patterns, highest severity, title, roles."""
    from hwtop.report.patterns import list_text, pattern_json

    patterns = _known().patterns
    for line in map(pattern_json, patterns) if as_json else list_text(patterns):
        print(line)


@command.command("show", short_help="Show all patterns of one id.")
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per pattern, each on one line.")
def show(name: str, as_json: bool) -> None:
    """Show all patterns of one id: what they match, what it means, what to do."""
    from hwtop.errors import UsageError
    from hwtop.report.patterns import pattern_json, show_text
    from hwtop.suggestion import did_you_mean

    registry = _known()
    patterns = [pattern for pattern in registry.patterns if pattern.id == name]
    if not patterns:
        known = dict.fromkeys(pattern.id for pattern in registry.patterns)
        raise UsageError(f"no pattern {name!r}: {did_you_mean(name, known, '`hwtop patterns list` lists them')}")
    for line in map(pattern_json, patterns) if as_json else show_text(patterns, registry):
        print(line)


@command.command("test", short_help="Check a pattern file, optionally on a log.")
@click.argument("file", metavar="FILE.toml")
@click.argument("log", required=False, metavar="[LOG|-]")
def test(file: str, log: str | None) -> None:
    """Check a pattern file. With LOG (- for standard input), print the lines that match.

    Exit code: 0 the file is valid, 2 it is not (with the reason).
    """
    import time
    from pathlib import Path

    from hwtop.collectors.logs.file import check_file, read_file
    from hwtop.collectors.logs.user_patterns import read_pattern_file
    from hwtop.job.patterns.match import Matcher
    from hwtop.job.patterns.trial import Trial
    from hwtop.report.patterns import trial_log_text, trial_text
    from hwtop.report.scan import ScanText
    from hwtop.symptoms.own_patterns import refused_ids
    from hwtop.symptoms.rules import RULES

    registry = read_pattern_file(str(Path(file).absolute()))
    for line in (*trial_text(registry, time.process_time), *refused_ids(registry, RULES)):
        print(line)
    if log is None:
        return
    check_file(log)
    matcher, trial, text = Matcher(registry, repeat_limit=None), Trial(registry), ScanText()
    for block in read_file(log):
        trial.add(block)
        for event in matcher.match_block(block):
            for row in text.add(event) if event.pattern in trial.ids else ():
                print(row)
    for row in (*text.summary(), *trial_log_text(trial, registry)):
        print(row)


def _known() -> Registry:
    """All patterns.

    Raises:
        UsageError: a file of the user is invalid.
    """
    from hwtop.collectors.logs.user_patterns import known_patterns
    from hwtop.errors import UsageError

    known = known_patterns()
    if known.problems:
        raise UsageError(known.problems[0])
    return known.registry
