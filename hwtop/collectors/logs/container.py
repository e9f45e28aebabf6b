"""Log container: the file into which a container runtime puts what the processes of a container print.

Places: Docker's json-file driver below its data root, the kubelet's links in /var/log/containers
(`POD_NAMESPACE_CONTAINER-ID.log`), podman's k8s-file driver below its storage.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hwtop.collectors.process.files import read_bytes

_ID = re.compile(rb"(?:/|[/-])([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE)
_PLACES = (
    "/var/lib/docker/containers/{id}/{id}-json.log",
    "/var/log/containers/*-{id}.log",
    "/var/lib/containers/storage/overlay-containers/{id}/userdata/ctr.log",
    "{home}/.local/share/docker/containers/{id}/{id}-json.log",
    "{home}/.local/share/containers/storage/overlay-containers/{id}/userdata/ctr.log",
)
READERS = frozenset({"containerd-shim", "containerd", "dockerd", "conmon", "crun", "runc", "docker-init"})
"""Programs (names cut after 15 characters by the kernel) at the other end of a container's pipes."""


def container_of(proc: str, pids: Sequence[int]) -> str | None:
    """Full id of the container that the processes run in, as their cgroup names it from outside."""
    for pid in pids:
        with suppress(OSError):
            found = _ID.search(read_bytes(f"{proc}/{pid}/cgroup"))
            if found is not None:
                return found[1].decode()
    return None


def container_files(container: str, root: str = "") -> tuple[str, ...]:
    """Log files of the container that are there and may be seen; `root` stands before their places. May block."""
    home = Path.home()
    patterns = (root + place.format(id=container, home=home) for place in _PLACES)
    return tuple(path for pattern in patterns for path in sorted(glob.glob(pattern)))[:1]
