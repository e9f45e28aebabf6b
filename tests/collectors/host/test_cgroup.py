from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hwtop.collectors.host.cgroup import CgroupSource
from hwtop.model.host.cgroup import CgroupReading
from hwtop.model.host.cpu import PressureLine
from hwtop.model.plan import SamplingPlan
from tests.host import Clock, proc, sys, write_tree

GIB = 1024**3


def test_inside_a_v2_container_its_own_cgroup_is_the_top() -> None:
    reading = CgroupSource(proc=proc("container-v2", "first"), sys=sys("container-v2", "first"), now=Clock(4.0)).read()
    assert (reading.at_s, reading.version, reading.path) == (4.0, 2, "/")
    assert reading.cpu_quota_cores == 4.0
    assert (reading.nr_periods, reading.nr_throttled, reading.throttled_us) == (1000, 200, 7000000)
    assert (reading.mem_limit_bytes, reading.mem_high_bytes) == (32 * GIB, None)
    assert (reading.mem_used_bytes, reading.mem_cache_bytes) == (28 * GIB, 8 * GIB)
    assert reading.oom_kills == 0
    assert reading.psi["memory"].full == PressureLine(avg10_pct=5.0, avg60_pct=3.5, avg300_pct=2.0, total_us=12000)
    assert reading.missing == {}


def test_the_tightest_limit_on_the_way_up_counts_with_the_use_at_its_level() -> None:
    reading = CgroupSource(pid=4242, proc=proc("pod-v2"), sys=sys("pod-v2")).read()
    assert reading.path.endswith("/cri-containerd-c0ffee.scope")
    assert reading.cpu_quota_cores == 8.0  # of the pod, not the 64 of all pods
    assert (reading.nr_periods, reading.nr_throttled, reading.throttled_us) == (5000, 1250, 600000000)
    assert reading.mem_limit_bytes == 48 * GIB  # of the container
    assert reading.mem_high_bytes == 45 * GIB
    assert (reading.mem_used_bytes, reading.mem_cache_bytes, reading.oom_kills) == (47 * GIB, 4 * GIB, 2)
    assert reading.psi["cpu"].some == PressureLine(avg10_pct=4.0, avg60_pct=4.0, avg300_pct=4.0, total_us=4)
    assert reading.missing == {}


def test_no_limit_is_none_and_what_cannot_be_read_has_a_reason() -> None:
    reading = CgroupSource(proc=proc("pod-v2"), sys=sys("pod-v2")).read()  # hwtop's own: no CPU controller
    assert reading.path == "/user.slice/user-1000.slice/session-3.scope"
    assert (reading.cpu_quota_cores, reading.mem_limit_bytes) == (None, None)
    assert reading.mem_used_bytes == 1 << 20
    assert set(reading.missing) == {"nr_periods", "nr_throttled", "throttled_us", "psi.cpu", "psi.io", "psi.memory"}
    assert reading.missing["nr_periods"].endswith("cpu.stat has no nr_periods")


def test_it_follows_the_aim() -> None:
    source = CgroupSource(proc=proc("pod-v2"), sys=sys("pod-v2"))
    assert source.read().mem_limit_bytes is None
    source.set_plan(SamplingPlan(target_pid=4242))
    assert source.read().mem_limit_bytes == 48 * GIB
    source.set_plan(SamplingPlan())  # no target at the moment: the last one stays
    assert source.read().mem_limit_bytes == 48 * GIB


def test_v1_with_an_empty_v2_tree_beside_it() -> None:
    reading = CgroupSource(pid=4242, proc=proc("host-v1", "first"), sys=sys("host-v1", "first"), now=Clock(1.0)).read()
    assert reading == CgroupReading(
        at_s=1.0,
        version=1,
        path="/docker/beef",
        cpu_quota_cores=2.5,
        nr_periods=5000,
        nr_throttled=700,
        throttled_us=90000000,  # the file has nanoseconds
        mem_limit_bytes=16 * GIB,  # of the level above; its own is the huge number that means none
        mem_used_bytes=15 * GIB,
        mem_cache_bytes=6 * GIB,
        oom_kills=4,
    )


def test_the_top_of_a_v1_host_has_no_limit() -> None:
    reading = CgroupSource(proc=proc("host-v1", "first"), sys=sys("host-v1", "first")).read()
    assert (reading.version, reading.path) == (1, "/")
    assert (reading.cpu_quota_cores, reading.mem_limit_bytes) == (None, None)
    assert reading.mem_used_bytes == 60 * GIB


def test_inside_a_v1_container_host_paths_lead_to_the_own_part() -> None:
    reading = CgroupSource(proc=proc("container-v1"), sys=sys("container-v1")).read()
    assert reading.cpu_quota_cores == 2.5
    assert reading.mem_limit_bytes == 16 * GIB  # hierarchical_memory_limit: set above what the container sees
    assert reading.mem_used_bytes == 14 * GIB
    assert reading.oom_kills is None
    assert reading.missing == {
        "oom_kills": f"{sys('container-v1')}/fs/cgroup/memory/memory.oom_control has no oom_kill"
    }


def copy(tmp_path: Path, tree: str, when: str = "") -> CgroupSource:
    shutil.copytree(Path(proc(tree, when)).parent, tmp_path / "tree", symlinks=True)
    return CgroupSource(pid=4242, proc=str(tmp_path / "tree/proc"), sys=str(tmp_path / "tree/sys"))


def test_a_rank_in_a_cgroup_of_its_own_has_its_own_limit(tmp_path: Path) -> None:
    source = copy(tmp_path, "host-v1", "first")
    of_rank = "tree/sys/fs/cgroup/cpu,cpuacct/docker/beef/rank1"
    paths = (tmp_path / "tree/proc/4242/cgroup").read_text()
    write_tree(
        tmp_path,
        {
            "tree/proc/4243/cgroup": paths.replace("/docker/beef", "/docker/beef/rank1"),
            "tree/proc/4244/cgroup": paths,
            f"{of_rank}/cpu.cfs_quota_us": "30000\n",
            f"{of_rank}/cpu.cfs_period_us": "100000\n",
            f"{of_rank}/cpu.stat": "nr_periods 90\nnr_throttled 81\nthrottled_time 5\n",
        },
    )
    source.set_plan(SamplingPlan(target_pid=4242, stack_pids=(4243, 4244)))
    others = source.read().others
    assert [(limit.pids, limit.cpu_quota_cores, limit.nr_throttled) for limit in others] == [((4243,), 0.3, 81)]


def test_a_path_that_is_not_under_the_mount_falls_back_to_its_top(tmp_path: Path) -> None:
    source = copy(tmp_path, "pod-v2")
    write_tree(
        tmp_path, {"tree/proc/4242/cgroup": "0::/docker/elsewhere\n", "tree/sys/fs/cgroup/cpu.max": "50000 100000\n"}
    )
    assert source.read().cpu_quota_cores == 0.5


@pytest.mark.parametrize("path", ["/../other.scope", "/gone.scope (deleted)"])
def test_a_cgroup_that_cannot_be_seen_is_no_missing_limit(tmp_path: Path, path: str) -> None:
    source = copy(tmp_path, "pod-v2")
    write_tree(tmp_path, {"tree/proc/4242/cgroup": f"0::{path}\n"})
    reading = source.read()
    assert reading.path == path
    assert reading.mem_used_bytes is None
    assert "cannot be seen from here" in reading.missing["cpu_quota_cores"]
    assert "cannot be seen from here" in reading.missing["mem_limit_bytes"]


def test_of_a_target_that_was_killed_the_last_cgroup_is_read_on(tmp_path: Path) -> None:
    source = copy(tmp_path, "host-v1", "first")
    assert source.read().oom_kills == 4
    write_tree(
        tmp_path,
        {"tree/proc/4242/stat": "4242 (python) Z 1 4242\n", "tree/proc/4242/cgroup": "10:memory:/\n9:cpu,cpuacct:/\n"},
    )
    write_tree(tmp_path, {"tree/sys/fs/cgroup/memory/docker/memory.oom_control": "oom_kill 5\n"})
    reading = source.read()  # a zombie: v1 shows it at the top
    assert (reading.path, reading.oom_kills) == ("/docker/beef", 5)
    shutil.rmtree(tmp_path / "tree/proc/4242")
    assert source.read().oom_kills == 5


def test_a_pid_that_never_was_and_a_machine_without_cgroups_are_reasons(tmp_path: Path) -> None:
    source = copy(tmp_path, "pod-v2")
    source.set_plan(SamplingPlan(target_pid=5))
    with pytest.raises(FileNotFoundError, match="proc/5/cgroup"):
        source.read()
    write_tree(tmp_path, {"tree/proc/self/mountinfo": "22 28 0:21 / /proc rw - proc proc rw\n"})
    source.set_plan(SamplingPlan(target_pid=4242))
    assert source.probe() == "no cgroup file system is mounted"
    with pytest.raises(ValueError, match="no cgroup with a CPU or memory controller"):
        source.read()
    assert CgroupSource(proc=str(tmp_path / "none")).probe() is not None


@pytest.mark.parametrize(
    ("file", "text", "field"),
    [
        ("cpu.max", "many\n", "cpu_quota_cores"),
        ("cpu.max", "100000\n", "cpu_quota_cores"),
        ("cpu.max", "100000 0\n", "cpu_quota_cores"),
        ("memory.max", "", "mem_limit_bytes"),
        ("memory.current", "12 34\n", "mem_used_bytes"),
        ("memory.stat", "anon 5\nfi", "mem_cache_bytes"),
        ("memory.events", "", "oom_kills"),
        ("io.pressure", "some avg10=", "psi.io"),
    ],
)
def test_a_garbled_file_costs_its_field_only(tmp_path: Path, file: str, text: str, field: str) -> None:
    source = copy(tmp_path, "container-v2", "first")
    source = CgroupSource(proc=str(tmp_path / "tree/proc"), sys=str(tmp_path / "tree/sys"))
    write_tree(tmp_path, {f"tree/sys/fs/cgroup/{file}": text})
    reading = source.read()
    assert set(reading.missing) == {field}
    assert file in reading.missing[field]
    assert getattr(reading, field, None) is None


def test_the_limit_of_processes_and_how_many_there_are(tmp_path: Path) -> None:
    shutil.copytree(proc("pod-v2"), tmp_path / "proc", symlinks=True)
    shutil.copytree(sys("pod-v2"), tmp_path / "sys", symlinks=True)
    (pod,) = (folder for folder in (tmp_path / "sys").rglob("cri-containerd-c0ffee.scope"))
    assert CgroupSource(pid=4242, proc=f"{tmp_path}/proc", sys=f"{tmp_path}/sys").read().pids_limit is None
    (pod / "pids.max").write_text("max\n")
    (pod.parent / "pids.max").write_text("1000\n")
    (pod.parent / "pids.current").write_text("930\n")
    reading = CgroupSource(pid=4242, proc=f"{tmp_path}/proc", sys=f"{tmp_path}/sys").read()
    assert (reading.pids_limit, reading.pids_used) == (1000, 930)
