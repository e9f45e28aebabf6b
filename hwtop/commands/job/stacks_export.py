"""`hwtop stacks --format`: samples of all ranks over some seconds, as files for flame graph tools."""

from __future__ import annotations

import os
from pathlib import Path

from hwtop.errors import CannotError, UsageError
from hwtop.model.member import Member
from hwtop.model.stack import StackSample

FORMATS = ("speedscope", "collapsed")
_OPENED_WITH = {
    "speedscope": "https://www.speedscope.app",
    "collapsed": "flamegraph.pl, inferno or https://www.speedscope.app",
}


def export(target_pid: int, seconds: float, form: str, output: str | None, rank: int | None) -> None:
    """Sample the ranks and write the file, or print only the samples without `output`."""
    from hwtop.collectors.stacks.profile import record_all
    from hwtop.job.rank_set import named

    if output is not None:
        _check(Path(output))
    ranks = _ranks(target_pid, rank)
    taken = record_all([member.pid for member in ranks], seconds)
    samples: dict[int, list[StackSample]] = {}
    missing: list[str] = []
    advice = ""
    for member in ranks:
        windows = taken[member.pid]
        samples[member.rank or 0] = [sample for window in windows for sample in window.samples]
        if not samples[member.rank or 0]:
            missing += [f"rank {member.rank}: {windows[-1].error or 'no Python frame found'}"]
            advice = windows[-1].advice or ""
    if len(missing) == len(ranks):
        raise CannotError(f"no samples: {missing[0]}" + (f"; {advice}" if advice else ""))
    text = _text(samples, seconds, form, target_pid)
    if output is None:
        print(text, end="")
        return
    _write(Path(output), text)
    count = sum(map(len, samples.values()))
    print(
        f"wrote {output}: {count} samples of {named(rank for rank, each in samples.items() if each)} over {seconds:g} s"
    )
    print(f"open it in {_OPENED_WITH[form]}")
    for line in missing:
        print(f"no samples: {line}")


def _text(samples: dict[int, list[StackSample]], seconds: float, form: str, target_pid: int) -> str:
    from hwtop.report.exports.collapsed import collapsed
    from hwtop.report.exports.speedscope import speedscope

    if form == "collapsed":
        return collapsed(samples)
    return speedscope(samples, seconds, f"training job of PID {target_pid}")


def _ranks(target_pid: int, rank: int | None) -> list[Member]:
    from hwtop.collectors.process.source import ProcessSource
    from hwtop.job.launch.tree import members
    from hwtop.job.rank_set import named
    from hwtop.report.job.stacks import watched

    everyone = watched(members(ProcessSource(target_pid).read().processes), target_pid)
    ranks = [member for member in everyone if member.role == "rank"]
    chosen = [member for member in ranks if rank is None or member.rank == rank]
    if not chosen:
        here = named(member.rank or 0 for member in ranks)
        raise UsageError(f"no rank {rank} on this machine: process {target_pid} belongs to a job with {here}")
    return chosen


def _check(path: Path) -> None:
    """Check before sampling that it can be written."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory: name a file in it")
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"no such directory: {folder}: mkdir -p {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise CannotError(f"cannot write {path}: permission denied; choose another file with -o")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CannotError(f"cannot write {path}: {error.strerror}; choose another file with -o") from error
