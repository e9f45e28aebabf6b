"""`hwtop scan`: known errors and progress in log files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hwtop.job.log.block import LogBlock
    from hwtop.job.progress.tracker import ProgressReader


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE...|-]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option("--progress", "with_progress", is_flag=True, help="Also print parsed progress (step, loss, throughput).")
@click.option("--explain", is_flag=True, help="Explain each pattern found: what it means, its role, what to do.")
def command(files: tuple[str, ...], as_json: bool, with_progress: bool, explain: bool) -> None:
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

    if explain and as_json:
        raise UsageError("--explain prints text: leave out --json")
    if not files and sys.stdin.isatty():
        raise UsageError("no log given: pass files, or pipe one in: hwtop scan - < train.log")
    known = known_patterns()
    if known.problems:
        raise UsageError(known.problems[0])
    for path in files:
        check_file(path)
    text = ScanText(explain)
    is_bad = False
    cut_lines = cut_bytes = 0
    for path in files or ("-",):
        matcher, reader = Matcher(known.registry, repeat_limit=None), ProgressReader()
        for block in map(block_without_reports, read_file(path)):
            cut_lines, cut_bytes = cut_lines + block.cut_lines, cut_bytes + block.cut_bytes
            if with_progress:
                _print_progress(block, reader, as_json)
            for event in matcher.match_block(block):
                is_bad = is_bad or (event.severity != "info" and event.role != "context")
                for row in [event_json(event)] if as_json else text.add(event):
                    print(row)
            sys.stdout.flush()  # show what is known so far of a pipe that stays open
    for row in () if as_json else text.summary():
        print(row)
    if cut_lines:
        print(cut_text(cut_lines, cut_bytes), file=sys.stderr)
    raise SystemExit(1 if is_bad else 0)


def _print_progress(block: LogBlock, reader: ProgressReader, as_json: bool) -> None:
    from hwtop.job.log.block import all_lines
    from hwtop.report.scan import progress_json, progress_text

    for line in all_lines(block):
        if (progress := reader.read(line.text)) is not None:
            print(progress_json(line, progress) if as_json else progress_text(line, progress))
