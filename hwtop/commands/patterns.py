"""`hwtop patterns`: what hwtop looks for in logs, and the user's own patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hwtop.job.patterns.registry import Registry

_FORMAT = """\b
Your own patterns: ~/.config/hwtop/patterns.d/ANY.toml, e.g.
    [[pattern]]
    id = "quota-reached"          # a symptom of hwtop (hwtop patterns list), or any other name
    literals = ["quota of project"]   # lower case; only lines with one of them are looked at
    regex = 'quota of project (?P<project>\\w+) reached'   # optional, ignores case
    unless = 'dry run'            # optional: lines that look alike but are not
    severity = "critical"         # critical, warning or info
    role = "root"                 # root, cascade, confirmation or context
    title = "Quota reached"       # for an id that is no symptom of hwtop
    explanation = "The project's storage quota is used up."
    playbook = ["quota -s   # what is left"]   # optional: next steps
    source = "cluster handbook"   # optional"""


@click.group(epilog=_FORMAT)
def command() -> None:
    """What hwtop looks for in logs: its own patterns and yours."""


@command.command("list", short_help="Every id that a log line can raise.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a pattern and line.")
def list_(as_json: bool) -> None:
    """Every id that a log line can raise: patterns, worst severity, title, roles."""
    from hwtop.report.patterns import list_text, pattern_json

    patterns = _known().patterns
    for line in map(pattern_json, patterns) if as_json else list_text(patterns):
        print(line)


@command.command("show", short_help="All patterns of one id.")
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a pattern and line.")
def show(name: str, as_json: bool) -> None:
    """All patterns of one id: what they match, what it means, what to do."""
    from difflib import get_close_matches

    from hwtop.errors import UsageError
    from hwtop.report.patterns import pattern_json, show_text

    registry = _known()
    patterns = [pattern for pattern in registry.patterns if pattern.id == name]
    if not patterns:
        near = get_close_matches(name, {pattern.id for pattern in registry.patterns}, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no pattern {name!r}: {hint}`hwtop patterns list` lists them")
    for line in map(pattern_json, patterns) if as_json else show_text(patterns, registry):
        print(line)


@command.command("test", short_help="Check a file of patterns, on a log if you like.")
@click.argument("file", metavar="FILE.toml")
@click.argument("log", required=False, metavar="[LOG|-]")
def test(file: str, log: str | None) -> None:
    """Check a file of patterns, and tell which lines of LOG (or of standard input, -) they match.

    Exits 0 when hwtop can use the file, 2 when it cannot.
    """
    import time
    from pathlib import Path

    from hwtop.collectors.log_file import check_file, read_file
    from hwtop.collectors.user_patterns import read_pattern_file
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
        UsageError: a file of the user's cannot be used.
    """
    from hwtop.collectors.user_patterns import known_patterns
    from hwtop.errors import UsageError

    known = known_patterns()
    if known.problems:
        raise UsageError(known.problems[0])
    return known.registry
