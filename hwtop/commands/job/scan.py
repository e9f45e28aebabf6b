"""`hwtop scan`: known errors and progress in log files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared.options import Length, length, length_of

if TYPE_CHECKING:
    from hwtop.job.log.block import LogBlock
    from hwtop.job.progress.tracker import ProgressReader


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE...|-]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option("--progress", "with_progress", is_flag=True, help="Also print parsed progress (step, loss, throughput).")
@click.option("--explain", is_flag=True, help="Explain each pattern found: what it means, its role, what to do.")
@length
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], as_json: bool, with_progress: bool, explain: bool) -> None:
    """Search log files (plain or gzip), or standard input (-), for known errors.

    Your own patterns are read from ~/.config/hwtop/patterns.d/*.toml (see: hwtop patterns -h). Exit code: 0 nothing found, 1
    findings of severity warning or above (role "context" does not count), 2 a file cannot be read.
    """
    from hwtop.collectors.logs.file import check_file, read_file
    from hwtop.collectors.logs.user_patterns import known_patterns
    from hwtop.errors import UsageError
    from hwtop.job.log.own_report import block_without_reports
    from hwtop.job.patterns.match import Matcher
    from hwtop.job.progress.tracker import ProgressReader
    from hwtop.report.scan import ScanText, cut_text, event_json

    form = length_of(ctx, as_json=as_json)
    _check_flags(files, form, as_json=as_json, with_progress=with_progress, explain=explain)
    known = known_patterns()
    if known.problems:
        raise UsageError(known.problems[0])
    for path in files:
        check_file(path)
    text = ScanText(explain)
    is_bad = False
    cut_lines = cut_bytes = 0
    rows: list[str] = []
    for path in files or ("-",):
        matcher, reader = Matcher(known.registry, repeat_limit=None), ProgressReader()
        for block in map(block_without_reports, read_file(path)):
            cut_lines, cut_bytes = cut_lines + block.cut_lines, cut_bytes + block.cut_bytes
            if with_progress:
                _print_progress(block, reader, as_json)
            for event in matcher.match_block(block):
                is_bad = is_bad or (event.severity != "info" and event.role != "context")
                rows += [event_json(event)] if as_json else text.add(event)
            if not form.is_short:  # show what is known so far of a pipe that stays open
                _print_rows(rows)
                rows.clear()
    if not as_json:
        _print_end(form, rows, text.summary(), files)
    if cut_lines:
        print(cut_text(cut_lines, cut_bytes), file=sys.stderr)
    raise SystemExit(1 if is_bad else 0)


def _check_flags(files: tuple[str, ...], form: Length, *, as_json: bool, with_progress: bool, explain: bool) -> None:
    from hwtop.errors import UsageError

    if explain and as_json:
        raise UsageError("--explain prints text: leave out --json")
    if with_progress and form.is_short:
        raise UsageError("--progress prints a line for each: leave out --brief, --max-bytes and --oneline")
    if not files and sys.stdin.isatty():
        raise UsageError("no log given: pass files, or pipe one in: hwtop scan - < train.log")


def _print_rows(rows: list[str]) -> None:
    for row in rows:
        print(row)
    sys.stdout.flush()


def _print_end(form: Length, rows: list[str], summary: list[str], files: tuple[str, ...]) -> None:
    """What is still to be said in text: of a short form all of it."""
    from hwtop.report.scan import brief_text
    from hwtop.symptoms.summary import cut

    if form.is_oneline:
        print(cut(summary[-1]))
    elif form.most_bytes is not None:
        print(brief_text(rows, summary, form.most_bytes, files), end="")
    else:
        _print_rows(summary)


def _print_progress(block: LogBlock, reader: ProgressReader, as_json: bool) -> None:
    from hwtop.job.log.block import all_lines
    from hwtop.report.scan import progress_json, progress_text

    for line in all_lines(block):
        if (progress := reader.read(line.text)) is not None:
            print(progress_json(line, progress) if as_json else progress_text(line, progress))
