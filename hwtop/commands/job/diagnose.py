"""`hwtop diagnose`: headless triage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared.options import (
    F,
    Length,
    json_flag,
    length,
    length_of,
    on_finding,
    reading,
    report_failure,
    settings,
    settings_of,
)
from hwtop.commands.shared.target import target, target_of
from hwtop.commands.shared.values import Seconds

if TYPE_CHECKING:
    from hwtop.model.frame import Frame


def report_flags(function: F) -> F:
    """--json, --markdown and --fail-on: how `print_report` reports."""
    for option in (
        click.option(
            "--fail-on",
            type=click.Choice(["info", "warning", "critical", "never"]),
            default="warning",
            show_default=True,
            help="Exit with code 1 if a finding has this severity or above.",
        ),
        click.option("--markdown", is_flag=True, help="Print the report as Markdown."),
        json_flag,
    ):
        function = option(function)
    return function


def print_report(frame: Frame, form: Length, *, as_json: bool, markdown: bool, fail_on: str) -> int:
    """Prints what is wrong with a job, of one machine or over several nodes. Returns the exit code."""
    from hwtop.job.log.own_report import signed, signed_json
    from hwtop.model.symptom import AT_LEAST
    from hwtop.report.frame import brief, fleet, json_report
    from hwtop.report.frame import markdown as text_report
    from hwtop.report.json_text import encode
    from hwtop.symptoms.summary import one_line

    if as_json:
        report = fleet.diagnosis(frame) if frame.nodes else json_report.diagnosis(frame)
        print(signed_json(encode(report)))
    elif form.is_oneline:
        print(one_line(frame))
    elif frame.nodes:
        text = fleet.text(frame, as_markdown=markdown, most_bytes=form.most_bytes)
        print(signed(f"{text}\n"), end="")
    elif form.is_brief and form.most_bytes:
        print(signed(brief.brief(frame, form.most_bytes)), end="")
    else:
        text = text_report.diagnosis(frame, markdown=markdown, most_bytes=form.most_bytes)
        print(signed(f"{text}\n"), end="")
    sys.stdout.flush()
    grave = AT_LEAST.get(fail_on, ())  # "never" is not a severity
    return int(any(finding.severity in grave for finding in frame.findings))


@click.command()
@target
@reading
@settings
@click.option("--for", "seconds", type=Seconds(1, 86400), default="20s", show_default=True, help="How long to watch.")
@click.option(
    "-i", "--interval", type=Seconds(0.1, 60), default="500ms", show_default=True, help="Time between two samples."
)
@report_flags
@length
@on_finding
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also record what was read in this file, so that a colleague can replay it with `hwtop replay`.",
)
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    seconds: float,
    interval: float,
    as_json: bool,
    markdown: bool,
    on_finding: str | None,
    record: Path | None,
    fail_on: str,
) -> None:
    """Watch the job that PID belongs to, then print what is wrong.

    Exit code: 0 nothing found, 1 findings of severity warning or above (see --fail-on), 2 not possible (with the reason).
    """
    from hwtop.feed.call import Announcer
    from hwtop.feed.learn import learner
    from hwtop.feed.record import recorded
    from hwtop.feed.watch import check_job, last_frame, watch

    form = length_of(ctx, as_json=as_json)
    target_pid = target_of(ctx)
    config = settings_of(ctx)
    announcer = Announcer(on_finding, report_failure)
    with recorded(record, report_failure) as store:
        frame = last_frame(
            watch(
                target_pid,
                seconds=seconds,
                interval_s=interval,
                log_globs=logs,
                gpus=gpus,
                symptoms=config.symptoms,
                learner=learner(config.baselines.learn),
                store=store,
            ),
            announcer.advance,
        )
    announcer.finish()
    check_job(frame, target_pid)
    ctx.exit(print_report(frame, form, as_json=as_json, markdown=markdown, fail_on=fail_on))
