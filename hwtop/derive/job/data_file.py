"""Which data file a process has open, and on which file system: where its reads would hang."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from hwtop.job.metrics.files import kind_of
from hwtop.model.host.disk import MountReading
from hwtop.model.process import ProcessInfo
from hwtop.model.rank import DataFile

_NO_DATA = ("/dev/", "/proc/", "/sys/", "/memfd:", "pipe:", "socket:", "anon_inode:")
_LIBRARY = (".so", ".py", ".pyc")


def data_file(process: ProcessInfo, mounts: Sequence[MountReading], outputs: Collection[str] = ()) -> DataFile | None:
    """The file opened last (highest descriptor) that is neither a library, a device, an event file of a logger nor one of `outputs` (logs)."""
    paths = [
        file.target
        for file in process.files
        if file.fd > 2
        and file.target.startswith("/")
        and not file.target.startswith(_NO_DATA)
        and not file.target.endswith(_LIBRARY)
        and file.target not in outputs
        and kind_of(file.target) not in ("tensorboard", "wandb")
    ]
    if not paths:
        return None
    mount = _mount_of(paths[-1], mounts)
    return DataFile(
        path=paths[-1],
        mount_point=None if mount is None else mount.mount_point,
        fs_type=None if mount is None else mount.fs_type,
    )


def _mount_of(path: str, mounts: Sequence[MountReading]) -> MountReading | None:
    """The deepest mount point above the path."""
    above = [mount for mount in mounts if os.path.commonpath((mount.mount_point, path)) == mount.mount_point]
    return max(above, key=lambda mount: len(mount.mount_point), default=None)
