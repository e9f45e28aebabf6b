"""`hwtop scan`: known errors and progress in log files."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE...|-]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--progress", "with_progress", is_flag=True, help="Print what progress lines tell, too.")
def command(files: tuple[str, ...], as_json: bool, with_progress: bool) -> None:
    """Look for known errors in log files (plain or gzip), or in standard input (-).

    Exits 0 when nothing was found, 1 with findings of warning or above, 2 when a file cannot be read.
    """
    from hwtop.collectors.log_file import check_file, read_file
    from hwtop.errors import UsageError
    from hwtop.job.log_block import all_lines
    from hwtop.job.patterns.match import Matcher
    from hwtop.job.progress import parse
    from hwtop.report.scan import ScanText, event_json, progress_json, progress_text

    if not files and sys.stdin.isatty():
        raise UsageError("no log given: name files, or pipe one in: hwtop scan - < train.log")
    for path in files:
        check_file(path)
    text = ScanText()
    is_bad = False
    for path in files or ("-",):
        matcher = Matcher(repeat_limit=None)
        for block in read_file(path):
            if with_progress:
                for line in all_lines(block):
                    if (progress := parse(line.text)) is not None:
                        print(progress_json(line, progress) if as_json else progress_text(line, progress))
            for event in matcher.match_block(block):
                is_bad = is_bad or event.severity != "info"
                for row in [event_json(event)] if as_json else text.add(event):
                    print(row)
    if not as_json:
        for row in text.summary():
            print(row)
    raise SystemExit(1 if is_bad else 0)
