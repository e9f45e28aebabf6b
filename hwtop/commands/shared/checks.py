"""What `hwtop doctor` and `hwtop preflight` share: ask checks with a progress bar, print the answers, exit."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from hwtop.preflight.check import Check
    from hwtop.preflight.machine import Machine
    from hwtop.report.preflight import ChecksReport

Form = Literal["text", "json", "markdown"]


def report(ctx: click.Context, checks: Sequence[Check], machine: Machine, form: Form) -> None:
    """Ask all checks of this machine, print them in this form, and exit as they say."""
    from hwtop.preflight.run import results
    from hwtop.report.preflight import checks_report

    asked = results(checks, machine)
    try:
        if sys.stderr.isatty():
            names = [check.id for check in checks]
            with click.progressbar(
                asked,
                length=len(names),
                item_show_func=lambda last: names[min(len(names) - 1, names.index(last.id) + 1)] if last else names[0],
                file=sys.stderr,
            ) as bar:
                found = list(bar)
        else:
            found = list(asked)
    finally:
        machine.close()
    answer(ctx, form, checks_report(found))


def answer(ctx: click.Context, form: Form, found: ChecksReport, odd: Mapping[str, Sequence[str]] | None = None) -> None:
    """Print the answers in this form, and exit as they say. `odd`: as of `checks_text`."""
    from hwtop.preflight.run import exit_code
    from hwtop.report.json_text import encode
    from hwtop.report.preflight import checks_markdown, checks_text

    if form == "json":
        print(encode(found))
    else:
        print((checks_markdown if form == "markdown" else checks_text)(found.checks, odd or {}), end="")
    ctx.exit(exit_code(found.checks))
