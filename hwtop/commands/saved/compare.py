"""`hwtop compare`: two runs next to each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwtop.commands.shared.options import json_flag, report_failure, settings, settings_of
from hwtop.errors import CannotError

if TYPE_CHECKING:
    from hwtop.config import SymptomConfig
    from hwtop.feed.recorded import RecordedRun


@click.command()
@click.argument("then", metavar="THEN")
@click.argument("now", metavar="NOW")
@json_flag
@settings
@click.pass_context
def command(ctx: click.Context, /, then: str, now: str, as_json: bool) -> None:
    """Compare the run NOW with the earlier run THEN: slower or not, in which phase, on which rank or GPU, and what else differs.

    A run is a recording, a bundle, or the name of a baseline. Bundles are also compared by versions of packages and git commit. Compared are the last ten minutes of each in which ranks were alive. Exit code: 0 not slower, 1 clearly slower, 2 unknown
    (with the reason).
    """
    from hwtop.job.log.text import visible
    from hwtop.report.compare import Runs
    from hwtop.report.json_text import encode

    symptoms = settings_of(ctx).symptoms
    runs = Runs(_read(then, symptoms), _read(now, symptoms))
    if as_json:
        print(encode(runs.report()))
    else:
        print("\n".join(runs.text(visible(then))))
    sys.stdout.flush()
    if runs.found.is_slower is None:
        raise CannotError("the two runs have no step time and no throughput in the same unit")
    ctx.exit(int(runs.found.is_slower))


def _read(name: str, symptoms: SymptomConfig) -> RecordedRun:
    from hwtop.bundle import opened
    from hwtop.bundle.conditions import conditions
    from hwtop.feed.recorded import baseline_run, recorded_run
    from hwtop.state import baselines

    place = Path(name)
    if not place.exists() and name in baselines.names():
        return baseline_run(baselines.load(name))
    recording = opened.recording(place)
    try:
        run = recorded_run(recording.snapshots(), symptoms)
        return run._replace(circumstances={**run.circumstances, **conditions(place)})
    except CannotError as error:
        raise CannotError(f"{name!r}: {error}") from None
    finally:
        for problem in recording.problems:
            report_failure(problem)
        recording.close()
