"""The stacks of a job as they are now: what `hwtop stacks` reports."""

from __future__ import annotations

import time

from hwtop.collectors.host.mounts import mounts_of
from hwtop.collectors.process.source import ProcessSource
from hwtop.collectors.stacks.source import dump_all
from hwtop.errors import CannotError
from hwtop.job.launch.spawner import is_spawner
from hwtop.job.launch.tree import members
from hwtop.report.job.stacks import StacksReport, stacks_report, watched

_MOST_S = 15.0
"""For all processes together; one takes about 10 ms, one that does not answer 5 s in parallel to the others."""


def stacks_now(target_pid: int) -> StacksReport:
    """Takes one dump of each rank and loader worker; the job is not paused.

    Raises:
        CannotError: no stack can be read; the message says why.
    """
    processes = ProcessSource(target_pid).read()
    looked_at = watched(members(processes.processes), target_pid)
    dumps = dump_all([member.pid for member in looked_at], ends_s=time.monotonic() + _MOST_S)
    spawners = [dump.pid for dump in dumps if is_spawner(dump)]
    if spawners:  # what looked like loader workers are ranks
        looked_at = watched(members(processes.processes, spawners=spawners), target_pid)
    report = stacks_report(processes, looked_at, dumps, mounts_of(target_pid))
    if not report.groups:
        raise CannotError(report.blind[0].reason if report.blind else f"cannot read a stack of process {target_pid}")
    return report
