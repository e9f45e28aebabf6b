"""Which rank a worker of Ray Train is: it writes that into every line of its own structured log.

Ray Train sets RANK and the like after the start of the worker, where /proc does not show them. Its loggers
(ray.train._internal.logging, ray.train.v2._internal.logging) add `world_rank`, `local_rank` and `node_rank` to each line of
`ray-train-sys-worker-ID.log` and `ray-train-app-worker-ID.log`, and rank 0 reports the size as "[rank=0, world_size=2]".
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence

from hwtop.collectors.found_file import read_found
from hwtop.model.process import OpenFile

_LOG = re.compile(r"/ray-train-(?:sys|app)-worker-\w+\.log$")
_DRIVER_LOG = re.compile(r"/python-core-driver-([0-9a-f]{8})f+_\d+\.log$")
"""Worker number of a driver: that of its job, filled up (WorkerID::ComputeDriverIdFromJob)."""
_MOST_BYTES = 1 << 20
_FIELDS = (
    ("RANK", re.compile(rb'"world_rank": (\d+)')),
    ("LOCAL_RANK", re.compile(rb'"local_rank": (\d+)')),
    ("GROUP_RANK", re.compile(rb'"node_rank": (\d+)')),
    ("WORLD_SIZE", re.compile(rb"\[rank=\d+, world_size=(\d+)\]")),
)


def driver_job(directory: str) -> str | None:
    """Job number of a Ray driver, given as /proc/PID: the name of the log that its core worker has open holds it.

    May block on a process in uninterruptible sleep.

    Raises:
        OSError: its descriptors may not be read, or it has ended.
    """
    for name in os.listdir(f"{directory}/fd"):
        with contextlib.suppress(OSError):
            match = _DRIVER_LOG.search(os.readlink(f"{directory}/fd/{name}"))
            if match is not None:
                return match[1]
    return None


def reported_ranks(files: Sequence[OpenFile], uid: int | None) -> dict[str, str]:
    """RANK, LOCAL_RANK, ... as far as the logs of user `uid` among the open files report them.

    May block on a dead mount; never raises.
    """
    reported: dict[str, str] = {}
    for file in files:
        if not _LOG.search(file.target):
            continue
        try:
            content = read_found(file.target, uid, _MOST_BYTES)[0]
        except OSError:
            continue
        for name, pattern in _FIELDS:
            match = pattern.search(content)
            if match is not None:
                reported.setdefault(name, match[1].decode())
    return reported
