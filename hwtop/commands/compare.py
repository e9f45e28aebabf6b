"""`hwtop compare`: two recordings next to each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.options import report_failure, settings, settings_of
from hwtop.errors import CannotError

if TYPE_CHECKING:
    from hwtop.config import SymptomConfig
    from hwtop.feed.recorded import RecordedRun


@click.command()
@click.argument("then", metavar="THEN", type=click.Path(path_type=Path))
@click.argument("now", metavar="NOW", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@settings
@click.pass_context
def command(ctx: click.Context, /, then: Path, now: Path, as_json: bool) -> None:
    """Compare the recording NOW with the earlier recording THEN: slower or not, in which phase, on which rank or GPU, and what else differs.

    Compared are the last ten minutes of each in which ranks were alive. Exit code: 0 not slower, 1 clearly slower, 2 unknown
    (with the reason).
    """
    from hwtop.job.log.text import visible
    from hwtop.report import json_report
    from hwtop.report.compare import Runs

    symptoms = settings_of(ctx).symptoms
    runs = Runs(_read(then, symptoms), _read(now, symptoms))
    if as_json:
        print(json_report.encode(runs.report()))
    else:
        print("\n".join(runs.text(visible(str(then)))))
    sys.stdout.flush()
    if runs.found.is_slower is None:
        raise CannotError("the two recordings have no step time and no throughput in the same unit")
    ctx.exit(int(runs.found.is_slower))


def _read(place: Path, symptoms: SymptomConfig) -> RecordedRun:
    from hwtop.feed.recorded import recorded_run
    from hwtop.store.reader import Recording

    recording = Recording(place)
    try:
        return recorded_run(recording.snapshots(), symptoms)
    except CannotError as error:
        raise CannotError(f"{str(place)!r}: {error}") from None
    finally:
        for problem in recording.problems:
            report_failure(problem)
        recording.close()
