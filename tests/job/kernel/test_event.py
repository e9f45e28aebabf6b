"""Which lines of the kernel's log concern the job, and whom of it."""

from __future__ import annotations

import pytest

from hwtop.job.kernel.event import (
    Owner,
    Surroundings,
    bus_of,
    lapses_after_s,
    of_job,
    of_kill,
    still_counts,
    takes_back,
)
from hwtop.job.kernel.oom_report import OomKill, OomReports
from hwtop.job.patterns.kernel import kernel_registry
from hwtop.job.patterns.match import Matcher
from hwtop.model.gpu.device import Gpu
from hwtop.model.host.disk import MountReading
from hwtop.model.host.kernel import LOG_KERN
from hwtop.model.member import ProcessRole
from hwtop.model.reported.log import LogEvent, LogLine
from tests.kernel_lines import kernel_lines
from tests.parts import replace

CGROUP = "/slurm/uid_1000/job_77/step_0"


def owner(
    pid: int, role: ProcessRole = "rank", rank: int | None = None, from_s: float = 1.0, to_s: float = 30.0
) -> Owner:
    return Owner(pid=pid, role=role, rank=rank, from_s=from_s, to_s=to_s)


def mount(point: str, device: str, fs_type: str = "ext4") -> MountReading:
    return MountReading(mount_point=point, device=device, fs_type=fs_type)


def gpu(index: int, bus: str) -> Gpu:
    return Gpu(index=index, vendor="nvidia", name="H100", uuid=None, pci_bus_id=bus, status="ok")


HERE = Surroundings(
    since_s=1.1,
    owners={100: owner(100, "launcher"), 110: owner(110, rank=0), 111: owner(111, rank=1), 1110: owner(111, rank=1)},
    cgroups=frozenset({CGROUP}),
    gpus=(gpu(0, "00000000:18:00.0"), gpu(1, "00000000:9A:00.0")),
    gpu_ranks={0: (1,)},
    mounts=(
        mount("/", "/dev/sda2"),
        mount("/data", "nfs01:/export/data", "nfs4"),
        mount("/scratch", "10.0.1.5@tcp:10.0.1.6@tcp:/scratch", "lustre"),
        mount("/ceph", "10.0.0.5:6789:/", "ceph"),
        mount("/fast", "/dev/nvme1n1p1", "xfs"),
        mount("/vg", "/dev/mapper/vg-data", "xfs"),
        mount("/disk", "/dev/sdb1"),
    ),
    block_devices={"dm-3": ("nvme5n1",)},
    aliases={"dm-3": "mapper/vg-data"},
    nics=dict.fromkeys(("eno1np0", "ens1f0np0", "eno2", "eth0", "eth1", "eth2", "eth3"), False),
)


def matched(*texts: str, at_s: float = 21.0) -> list[LogEvent]:
    lines = [LogLine(path="kernel log", line_no=None, text=text, at_s=at_s) for text in texts]
    return Matcher(kernel_registry(), repeat_limit=None).match(lines)


def reported(name: str, around: Surroundings = HERE) -> list[LogEvent]:
    """What the job is told of a recorded log, as `hwtop.derive.host.kernel` does it."""
    reports = OomReports()
    found: list[LogEvent] = []
    for line in kernel_lines(name):
        if line.facility != LOG_KERN:
            continue
        if (kill := reports.add(line.text, line.at_s)) is not None and (event := of_kill(kill, False, around)):
            found.append(event)
        for event in matched(line.text, at_s=line.at_s):
            if event.pattern != "host-oom-kill" and (concerning := of_job(event, around)) is not None:
                found.append(concerning)
    return found


def test_a_rank_that_the_oom_killer_chose() -> None:
    (event,) = reported("memcg_oom.kmsg")
    assert (event.pattern, event.severity, event.role, event.rank) == ("host-oom-kill", "critical", "root", 1)
    assert event.explanation == (
        f"Rank 1 (python, PID 111) was killed by the kernel: memory cgroup {CGROUP} is full at 100 MiB; it used 94 MiB."
    )


def test_a_full_machine_is_everybodys_trouble() -> None:
    (ours,) = reported("global_oom.kmsg")
    assert (ours.severity, ours.rank) == ("critical", 1)
    assert "host memory is full" in ours.explanation
    (others,) = reported("global_oom.kmsg", replace(HERE, owners={}))
    assert (others.severity, others.rank) == ("warning", None)


KILL = OomKill(pid=9003, task="python", at_s=21.0, text="x", is_global=False)


@pytest.mark.parametrize(
    ("limit", "is_reported"),
    [
        (CGROUP, True),
        ("/slurm/uid_1000/job_77", True),
        ("/slurm", True),
        (f"{CGROUP}/task_3", False),  # a limit below the job's own groups that none of its processes is in
        ("/slurm/uid_1000/job_7", False),
        ("/", False),
        (None, False),
    ],
)
def test_a_limit_concerns_those_who_live_under_it(limit: str | None, is_reported: bool) -> None:
    assert (of_kill(replace(KILL, limit_cgroup=limit), False, HERE) is not None) is is_reported


def test_a_limit_in_a_namespace_without_paths_concerns_nobody() -> None:
    inside = replace(HERE, owners={}, cgroups=frozenset({"/"}))
    assert of_kill(replace(KILL, limit_cgroup="/docker/abc"), False, inside) is None


def test_gpus_lead_to_the_ranks_on_them() -> None:
    found = [(event.pattern, event.xid, event.rank, event.severity) for event in reported("gpu.kmsg")]
    assert ("xid", 31, 1, "warning") in found
    assert ("xid", 79, 1, "critical") in found
    assert ("gpu-lost", None, 1, "critical") in found
    assert all(rank == 1 and xid != 48 for _, xid, rank, _ in found)  # the other GPU is somebody else's
    (mmu,) = [event for event in reported("gpu.kmsg") if event.xid == 31]
    assert mmu.explanation.startswith("GPU 0, which rank 1 uses: Xid 31:")
    assert mmu.groups["gpu"] == "0"


def test_a_gpu_error_on_a_machine_whose_gpus_cannot_be_read_is_told() -> None:
    blind = replace(HERE, gpus=(), gpu_ranks={})
    assert {event.xid for event in reported("gpu.kmsg", blind) if event.pattern == "xid"} == {31, 79, 48}


def test_a_gpu_that_is_not_watched_is_not_ours() -> None:
    elsewhere = replace(HERE, gpus=(gpu(0, "00000000:42:00.0"),), owners={})
    assert reported("gpu.kmsg", elsewhere) == []


def test_storage_that_the_job_uses() -> None:
    events = reported("storage.kmsg")
    assert {event.pattern for event in events} == {"filesystem-hang"}
    mounts = [event.groups.get("mount") for event in events]
    assert mounts == [
        "/data",  # nfs01, and not nfs99
        *["/scratch"] * 4,
        "/ceph",
        "/fast",  # nvme1, and not nvme0
        *["/disk"] * 2,
        *["/"] * 2,
        "/vg",
        None,  # the hung rank
        "/",  # the journal thread of /dev/sda2
    ]
    hung = next(event for event in events if event.groups.get("task") == "python")
    assert (hung.rank, hung.severity, hung.explanation.split(":")[0]) == (1, "critical", "Rank 1 (PID 111)")
    assert events[0].playbook[0].startswith("timeout 5 stat -f /data; echo $?")
    assert "sudo smartctl -a /dev/sdb   # is the disk failing?" in {step for event in events for step in event.playbook}


def test_links_of_this_machine() -> None:
    events = reported("network.kmsg")
    names = [event.groups.get("interface") or event.groups.get("slave") for event in events]
    assert names == ["eno1np0", "ens1f0np0", "eno2", "eth0", "eth1", "eth2", "eth3", None]
    assert {event.severity for event in events} == {"warning"}
    assert "ethtool eno1np0" in events[0].playbook[0]


def test_what_is_harmless_or_not_ours_is_never_told() -> None:
    assert reported("harmless.kmsg") == []


@pytest.mark.parametrize(
    ("text", "rank", "words"),
    [
        (
            "python[111]: segfault at 0 ip 00007f0eb4385ad8 sp 00007f0eb3e576f8 error 4 in libtorch_cpu.so[167ad8,7f0eb4244000+156000]",
            1,
            "Rank 1 (PID 111) in libtorch_cpu.so: ",
        ),
        (
            "pt_autograd_0[1110]: segfault at 7f00 ip 00007f0eb4385ad8 sp 00007f0eb3e576f8 error 6 in libnccl.so.2[7f0eb4244000+156000]",
            1,
            "Rank 1 (PID 111, thread pt_autograd_0) in libnccl.so.2: ",
        ),
        (
            "traps: python[110] trap invalid opcode ip:7f0 sp:7ff error:0 in libx.so[7f0+1000]",
            0,
            "Rank 0 (PID 110) in libx.so",
        ),
        (
            "traps: python[110] general protection fault ip:7f0 sp:7ff error:0 in libc.so.6[7f0+1000]",
            0,
            "Rank 0 (PID 110) in",
        ),
        (
            "python[110]: unhandled level 2 translation fault (11) at 0x0, esr 0x92000006, in libc.so[ffff+1000]",
            0,
            "Rank 0",
        ),
    ],
)
def test_crashes_lead_to_the_rank(text: str, rank: int, words: str) -> None:
    (event,) = matched(text)
    found = of_job(event, HERE)
    assert found is not None
    assert (found.pattern, found.rank) == ("segfault", rank)
    assert found.explanation.startswith(words)


def test_the_thread_that_crashed_may_have_lived_too_shortly_to_be_seen() -> None:
    (event,) = matched("python[4711]: segfault at 0 ip 0000 sp 0000 error 4 in libc.so.6[1,7f+1]")
    assert of_job(event, HERE) is None
    found = of_job(event, replace(HERE, crashed={111: 23.0}))
    assert found is not None and found.rank == 1
    assert of_job(event, replace(HERE, crashed={111: 60.0})) is None
    assert of_job(event, replace(HERE, crashed={110: 22.0, 111: 23.0})) is None  # either of them: nobody is blamed


def test_a_pid_is_another_processs_before_and_long_after() -> None:
    (event,) = matched("python[111]: segfault at 0 ip 0000 sp 0000 error 4 in libc.so.6[1,7f+1]")
    for from_s, to_s in ((25.0, 30.0), (-900.0, -100.0)):
        assert of_job(event, replace(HERE, owners={111: owner(111, rank=1, from_s=from_s, to_s=to_s)})) is None


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 4: b200000000070f0f", None),
        ("EDAC MC0: 1 UE memory read error on CPU_SrcID#0", None),
        ("{1}[Hardware Error]: event severity: fatal", None),
        ("watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [kworker/1:2:9000]", "warning"),
        ("CPU3: Core temperature above threshold, cpu clock throttled (total events = 12)", "info"),
    ],
)
def test_what_strikes_the_whole_machine(text: str, severity: str | None) -> None:
    found = [event for each in matched(text) if (event := of_job(each, HERE)) is not None]
    assert len(found) == 1
    assert severity in (None, found[0].severity)


def test_memory_that_failed_under_a_rank() -> None:
    (event,) = matched("Memory failure: 0x1234: Sending SIGBUS to python:110 due to hardware memory corruption")
    found = of_job(event, HERE)
    assert found is not None
    assert (found.pattern, found.severity, found.rank) == ("ecc-error", "critical", 0)


def test_a_limit_of_processes() -> None:
    (event,) = matched(f"cgroup: fork rejected by pids controller in {CGROUP}")
    found = of_job(event, HERE)
    assert found is not None
    assert (found.pattern, found.severity) == ("process-limit", "critical")
    assert found.title
    assert f"/sys/fs/cgroup{CGROUP}/pids.max" in found.playbook[0]


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        ("nfs: server nfs01 not responding, still trying", "nfs: server nfs01 OK"),
        (
            "Lustre: s-OST0002-osc-ffff: Connection to s-OST0002 (at 10.0.1.5@tcp) was lost; in progress operations using this",
            "Lustre: s-OST0002-osc-ffff: Connection restored to s-OST0002 (at 10.0.1.5@tcp)",
        ),
        ("ceph: mds0 hung", "ceph: mds0 came back"),
        (
            "bnxt_en 0000:19:00.0 eno1np0: NIC Link is Down",
            "bnxt_en 0000:19:00.0 eno1np0: NIC Link is Up, 25000 Mbps full duplex",
        ),
        ("mlx5_core 0000:5e:00.0 ens1f0np0: Link down", "mlx5_core 0000:5e:00.0 ens1f0np0: Link up"),
        (
            "bond1: link status definitely down for interface eth3, disabling it",
            "bond1: link status definitely up for interface eth3, 10000 Mbps full duplex",
        ),
        ("CPU3: Core temperature above threshold, cpu clock throttled", "CPU3: Core temperature/speed normal"),
    ],
)
def test_an_end_takes_back_its_beginning_and_nothing_else(fault: str, end: str) -> None:
    (before,) = matched(fault, at_s=20.0)
    (after,) = [event for event in matched(end, at_s=25.0) if "cleared" in event.groups]
    assert takes_back(after, before)
    assert of_job(after, HERE) is None
    assert not takes_back(after, replace(before, at_s=30.0))
    (other,) = matched("nfs: server other not responding, still trying", at_s=20.0)
    assert not takes_back(after, other)


def test_a_link_that_is_up_is_not_down() -> None:
    (event,) = matched("bnxt_en 0000:19:00.0 eno1np0: NIC Link is Down")
    assert still_counts(event, HERE)
    assert not still_counts(event, replace(HERE, nics={"eno1np0": True}))


def test_what_repeats_lapses_and_what_kills_does_not() -> None:
    (lockup,) = matched("watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [python:110]")
    (hung,) = matched("INFO: task python:111 blocked for more than 120 seconds.")
    (crash,) = matched("python[111]: segfault at 0 ip 0000 sp 0000 error 4 in libc.so.6[1,7f+1]")
    (shut,) = matched("XFS (dm-3): Filesystem has been shut down due to log error (0x2).")
    assert (lapses_after_s(lockup) or 0) > 20
    ours = of_job(hung, HERE)
    assert ours is not None and 240 < (lapses_after_s(ours) or 0) < 600
    assert lapses_after_s(crash) is lapses_after_s(shut) is None


def test_pci_addresses_in_both_spellings() -> None:
    assert bus_of("00000000:9A:00.0") == bus_of("NVRM: Xid (PCI:0000:9a:00): 48") == (0, 0x9A, 0)
    assert bus_of("no address") is None
