"""A baseline of a running job, or of logs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hwtop import __version__
from hwtop.collectors.logs.file import check_file, read_file
from hwtop.errors import CannotError
from hwtop.feed.watch import check_job, last_frame, watch
from hwtop.job.log.block import all_lines
from hwtop.job.progress.tracker import ProgressReader
from hwtop.model.baseline import Baseline, JobIdentity
from hwtop.model.frame import Frame
from hwtop.model.reported.log import Progress
from hwtop.symptoms.history import History
from hwtop.symptoms.runs.levels import identity_of, levels_of, levels_of_log
from hwtop.symptoms.training.series import curve_of


def of_job(
    target_pid: int, *, seconds: float, log_globs: tuple[str, ...] = (), gpus: tuple[int, ...] | None = None
) -> Baseline:
    """Watch the job for so long.

    Raises:
        CannotError: it cannot be read.
    """
    frame = last_frame(watch(target_pid, seconds=seconds, log_globs=log_globs, gpus=gpus))
    check_job(frame, target_pid)
    return of_frame(frame)


def of_frame(frame: Frame) -> Baseline:
    """Its history condensed: the last 10 minutes of a watch or of a recording."""
    history = History(frame.history)
    reported = curve_of(history, "throughput")
    return Baseline(
        hwtop=__version__,
        saved_time_s=history.now.time_s,
        watched_s=round(frame.watched_s, 1),
        identity=identity_of(history),
        throughput_unit=reported.unit if reported else None,
        levels=levels_of(history),
    )


def of_logs(paths: Sequence[str], time_s: float) -> Baseline:
    """Step time and throughput in the logs of earlier runs, all together.

    Raises:
        UsageError: a file cannot be read.
        CannotError: none has a step time or a throughput.
    """
    for path in paths:
        check_file(path)
    step_times: list[float] = []
    throughputs: list[tuple[str, float]] = []
    for path in paths:
        reported = _progress(path)
        step_times += [each.step_time_s for each in reported if each.step_time_s]
        throughputs += [(each.throughput_unit or "", each.throughput) for each in reported if each.throughput]
    unit = throughputs[-1][0] if throughputs else None
    levels = levels_of_log(step_times, [value for one, value in throughputs if one == unit])
    if not levels:
        raise CannotError(
            f"{', '.join(paths)}: no step time or throughput found: `hwtop scan --progress FILE` shows what hwtop can parse"
        )
    return Baseline(
        hwtop=__version__,
        saved_time_s=time_s,
        watched_s=None,
        identity=JobIdentity(script=os.path.basename(paths[0])),
        throughput_unit=unit,
        levels=levels,
    )


def _progress(path: str) -> list[Progress]:
    reader = ProgressReader()
    lines = (line for block in read_file(path) for line in all_lines(block))
    return [progress for line in lines if (progress := reader.read(line.text)) is not None]
