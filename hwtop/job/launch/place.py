"""Where a job lives: Slurm's, the container's and the cgroup's names for it.

Formats: Slurm's cgroup plugins (`job_12/step_0` below `/slurm/uid_1000` in version 1, below `slurmstepd.scope` in version 2);
Docker and Podman with the cgroupfs driver (`/docker/ID`) and systemd's (`docker-ID.scope`, `libpod-ID.scope`); the kubelet's
`kubepods[/burstable]/podUID/ID` and `kubepods-burstable-podUID.slice/cri-containerd-ID.scope`; proc_pid_mountinfo(5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hwtop.job.launch.environment import slurm_job_of, slurm_step_of
from hwtop.lazy_regex import lazy_regex
from hwtop.model.job import JobPlace
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo, ProcessReading

_SLURM_CGROUP = lazy_regex(r"/job_(\d+)(?:/step_(\w+))?")
_STEP_TITLE = lazy_regex(r"slurmstepd: \[(\d+)(?:\.(\w+))?\]")
_CONTAINER = lazy_regex(r"(?:/|[/-])([0-9a-f]{64})(?:\.scope)?(?:/|$)")
_POD = lazy_regex(r"pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})")
_RUNTIMES = (
    ("docker", "docker"),
    ("libpod", "podman"),
    ("cri-containerd", "containerd"),
    ("crio", "cri-o"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
    ("nerdctl", "containerd"),
)
"""Word in the path -> runtime, the most telling first."""
_MOUNTED_ID = lazy_regex(
    r"/(docker/containers|containers/overlay-containers|containers/storage/overlay-containers|sandboxes)/([0-9a-f]{64})/"
)
_MOUNTED_POD = lazy_regex(r"/pods/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")
_SHORT = 12
"""Characters of an id that `docker ps` shows."""


def place_of(reading: ProcessReading, known: Sequence[Member]) -> JobPlace | None:
    """Ids of the job, told by the target first, then by its ranks, then by the rest; None where there are none."""
    ranks = {member.pid for member in known if member.role == "rank"}
    order = sorted(reading.processes, key=lambda p: (p.pid != reading.target_pid, p.pid not in ranks))
    job, step = next((ids for process in order if (ids := slurm_ids(process))[0] is not None), (None, None))
    target = order[0] if order else None
    cgroup = next((process.cgroup for process in order if process.cgroup not in (None, "/")), None)
    place = JobPlace(
        slurm_job=job,
        slurm_step=step,
        slurm_name=_first((process.env or {}).get("SLURM_JOB_NAME") for process in order) if job else None,
        container=reading.container or _first(container_of_cgroup(process.cgroup or "") for process in order),
        cgroup=cgroup,
        pid_namespace_pid=target.ns_pids[-1] if target is not None and len(target.ns_pids) > 1 else None,
    )
    return place if place != JobPlace() else None


def slurm_ids(process: ProcessInfo) -> tuple[str | None, str | None]:
    """Slurm's numbers of the job and of the step that a process runs in, each None where nothing tells it.

    The cgroup tells it also of processes whose environment may not be read; a batch script has the step "batch".
    """
    title = _STEP_TITLE.match(process.cmdline[0]) if process.cmdline else None
    if title is not None:
        return title[1], title[2]
    env = process.env or {}
    in_cgroup = _SLURM_CGROUP.search(process.cgroup or "")
    if in_cgroup is not None:
        return in_cgroup[1], in_cgroup[2] or slurm_step_of(env)
    job = slurm_job_of(env)
    return job, slurm_step_of(env) if job is not None else None


def container_of_cgroup(path: str) -> str | None:
    """ "docker 3f2a1b9c0d1e", "pod 1a2b3c4d containerd 3f2a1b9c0d1e"; None for a cgroup that is no container's."""
    container, pod = _CONTAINER.search(path), _POD.search(path)
    if container is None and pod is None:
        return None
    runtime = next((name for word, name in _RUNTIMES if word in path), "container")
    parts = [f"pod {pod[1].replace('_', '-')}"] if pod else []
    parts += [f"{runtime} {container[1][:_SHORT]}"] if container else []
    return " ".join(parts)


def container_of_mounts(mountinfo: str) -> str | None:
    """The same from /proc/PID/mountinfo: inside a container the cgroup is "/", but /etc/hostname is mounted from outside."""
    container, pod = _MOUNTED_ID.search(mountinfo), _MOUNTED_POD.search(mountinfo)
    parts = [f"pod {pod[1]}"] if pod else []
    if container:
        runtime = {"docker/containers": "docker", "sandboxes": "containerd"}.get(container[1], "podman")
        parts.append(f"{runtime} {container[2][:_SHORT]}")
    return " ".join(parts) or None


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)
