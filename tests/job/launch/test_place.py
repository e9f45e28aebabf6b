from __future__ import annotations

from typing import Any

import pytest

from hwtop.job.launch.place import container_of_cgroup, container_of_mounts, place_of, slurm_ids
from hwtop.job.launch.tree import members
from hwtop.model.job import JobPlace
from hwtop.model.process import ProcessInfo, ProcessReading
from tests.job.launch.test_tree import process
from tests.parts import replace

ID = "3f2a1b9c0d1e" + "0" * 52
POD = "0c1e2f3a-1b2c-4d5e-8f90-a1b2c3d4e5f6"


@pytest.mark.parametrize(
    ("path", "container"),
    [
        (f"/docker/{ID}", "docker 3f2a1b9c0d1e"),
        (f"/system.slice/docker-{ID}.scope", "docker 3f2a1b9c0d1e"),
        (f"/machine.slice/libpod-{ID}.scope/container", "podman 3f2a1b9c0d1e"),
        (f"/kubepods/burstable/pod{POD}/{ID}", f"pod {POD} container 3f2a1b9c0d1e"),
        (
            (
                f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD.replace('-', '_')}.slice/"
                f"cri-containerd-{ID}.scope"
            ),
            f"pod {POD} containerd 3f2a1b9c0d1e",
        ),
        (f"/kubepods.slice/kubepods-pod{POD.replace('-', '_')}.slice/crio-{ID}.scope", f"pod {POD} cri-o 3f2a1b9c0d1e"),
        ("/user.slice/user-1000.slice/session-3.scope", None),
        ("/slurm/uid_1000/job_12/step_0/task_0", None),
        ("/", None),
    ],
)
def test_container_by_cgroup(path: str, container: str | None) -> None:
    assert container_of_cgroup(path) == container


@pytest.mark.parametrize(
    ("line", "container"),
    [
        (
            f"612 587 8:1 /var/lib/docker/containers/{ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw",
            "docker 3f2a1b9c0d1e",
        ),
        (
            f"9 8 8:1 /var/lib/containers/storage/overlay-containers/{ID}/userdata/hostname /etc/hostname rw - xfs /dev/sda1 rw",
            "podman 3f2a1b9c0d1e",
        ),
        (
            (
                f"1 2 8:1 /var/lib/kubelet/pods/{POD}/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
                f"3 2 8:1 /var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw"
            ),
            f"pod {POD} containerd 3f2a1b9c0d1e",
        ),
        ("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw", None),
    ],
)
def test_container_by_mounts(line: str, container: str | None) -> None:
    assert container_of_mounts(line) == container


def in_cgroup(path: str, **env: Any) -> ProcessInfo:
    return replace(process(7, 1, "python|t.py", **env), cgroup=path)


@pytest.mark.parametrize(
    ("what", "ids"),
    [
        (in_cgroup("/slurm/uid_1000/job_12/step_0/task_0"), ("12", "0")),
        (in_cgroup("/system.slice/slurmstepd.scope/job_12/step_batch/user/task_0"), ("12", "batch")),
        (in_cgroup("/", SLURM_JOB_ID="9", SLURM_STEP_ID="3"), ("9", "3")),
        (in_cgroup("/", SLURM_JOB_ID="9"), ("9", None)),
        (in_cgroup("/", SLURM_STEP_ID="3"), (None, None)),
        (process(7, 1, "slurmstepd: [12.4]", comm="slurmstepd"), ("12", "4")),
    ],
)
def test_slurm_by_cgroup_title_and_environment(what: ProcessInfo, ids: tuple[str | None, str | None]) -> None:
    assert slurm_ids(what) == ids


def test_place_is_told_by_the_target_first() -> None:
    target = in_cgroup("/slurm/uid_1/job_12/step_0", SLURM_JOB_NAME="pretrain", SLURM_JOB_ID="12", SLURM_STEP_ID="0")
    beside = process(8, 1, "python|t.py", SLURM_JOB_ID="13")
    reading = ProcessReading(at_s=0, ticks_per_s=100, target_pid=7, root_pid=7, processes=(beside, target))
    place = place_of(reading, members(reading.processes))
    assert place == JobPlace(slurm_job="12", slurm_step="0", slurm_name="pretrain", cgroup="/slurm/uid_1/job_12/step_0")


def test_nowhere_in_particular_is_none() -> None:
    plain = in_cgroup("/")
    reading = ProcessReading(at_s=0, ticks_per_s=100, target_pid=7, root_pid=7, processes=(plain,))
    assert place_of(reading, members(reading.processes)) is None
