"""Parts of a bundle: what goes into its members, from one frame and what was read for it."""

from __future__ import annotations

import os
from functools import partial

from hwtop.bundle.archive import Archive, Members
from hwtop.bundle.environment import environment
from hwtop.bundle.evidence import Seen
from hwtop.bundle.logs import by_file, ends_of
from hwtop.bundle.started import command_lines, config_files, git_state
from hwtop.errors import CannotError
from hwtop.job.log.text import visible
from hwtop.job.secrets import masked_text
from hwtop.model.frame import Frame
from hwtop.model.job import JobLogs
from hwtop.model.snapshot import Snapshot
from hwtop.report.frame import json_report, markdown
from hwtop.report.job.stacks_now import stacks_now
from hwtop.report.job.stacks_text import stacks_text

_MOST_LOGS = 32


def add_evidence(archive: Archive, pid: int, reported: Frame, watched: Frame, seen: Seen) -> None:
    """All of a job but recording and pictures; what is gone with the job first. May take as long as files and py-spy take.

    `reported`: what the report is of; `watched`: the same moment with the real names of its logs.
    """
    archive.collect("report", partial(_report, reported))
    archive.collect("stacks.txt", partial(_stacks_now, pid))
    archive.add("stacks.json", {"dumps": seen.dumps})
    archive.collect("kernel.txt", partial(_kernel, seen))
    if seen.snapshot is not None:
        _add_read(archive, pid, seen.snapshot)
    if watched.derived.job is not None:
        _add_logs(archive, watched.derived.job.logs, _uid(pid, seen.snapshot))


def _add_read(archive: Archive, pid: int, snapshot: Snapshot) -> None:
    archive.collect("flight", partial(_flight, snapshot))
    archive.collect("environment.json", lambda: {"environment.json": environment(snapshot)})
    archive.collect("hardware.json", partial(_hardware, snapshot))
    if snapshot.process is not None:
        archive.add("started.json", command_lines(snapshot.process))
        archive.collect("config", partial(config_files, snapshot.process))
        archive.collect("git.json", lambda: {"git.json": git_state(pid)})


def _add_logs(archive: Archive, logs: JobLogs, uid: int | None) -> None:
    if logs.flagged_lines:
        archive.add("logs/flagged.txt", by_file(logs.flagged_lines))
    if logs.lines:
        archive.add("logs/newest.txt", by_file(logs.lines))
    for number, file in enumerate(logs.files[:_MOST_LOGS], 1):
        name = f"logs/{number:02}-{os.path.basename(masked_text(file.path))}.txt"  # masked first: a secret may hold "/"
        archive.collect(name, partial(_log, name, file.path, uid))
    if len(logs.files) > _MOST_LOGS:
        archive.leave_out("logs", f"{len(logs.files) - _MOST_LOGS} more files")


def _report(frame: Frame) -> Members:
    return {
        "report.md": markdown.diagnosis(frame, markdown=True) + "\n",
        "report.json": json_report.diagnosis(frame),
    }


def _stacks_now(pid: int) -> Members:
    return {"stacks.txt": stacks_text(stacks_now(pid))}


def _kernel(seen: Seen) -> Members:
    if not seen.kernel_lines:
        raise CannotError("no records of the kernel's log were read")
    lines = (f"{line.at_s:.3f} level {line.level}: {visible(line.text)}" for line in seen.kernel_lines)
    return {"kernel.txt": "\n".join(lines) + "\n"}


def _flight(snapshot: Snapshot) -> Members:
    dumps = snapshot.flight.dumps if snapshot.flight is not None else ()
    if not dumps:
        raise CannotError("no Flight Recorder dump was found")
    return {f"flight/{number:03}-rank-{dump.rank}.json": dump for number, dump in enumerate(dumps)}


def _hardware(snapshot: Snapshot) -> Members:
    """As read: levels and counters, topology and mounts."""
    readings = {
        "cpu": snapshot.cpu,
        "memory": snapshot.memory,
        "cgroup": snapshot.cgroup,
        "gpu": snapshot.gpu,
        "disk": snapshot.disk,
        "network": snapshot.network,
    }
    return {"hardware.json": readings}


def _log(name: str, path: str, uid: int | None) -> Members:
    return {name: ends_of(path, uid)}


def _uid(pid: int, snapshot: Snapshot | None) -> int | None:
    processes = snapshot.process.processes if snapshot is not None and snapshot.process is not None else ()
    return next((process.uid for process in processes if process.pid == pid), None)
