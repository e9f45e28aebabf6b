"""The kernel's log and the job over time."""

from __future__ import annotations

from typing import Any

from hwtop.derive.job.tracker import JobTracker
from hwtop.feed.assemble import Assembler
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu, GpuProcess, GpuReading
from hwtop.model.host.disk import DiskReading, MountReading
from hwtop.model.host.kernel import KernelLine, KernelReading
from hwtop.model.host.network import NetworkReading, NicCounters
from hwtop.model.job import Job
from hwtop.model.process import OpenFile, ProcessInfo, ThreadInfo
from hwtop.model.snapshot import Snapshot
from tests.derive.readings import gone, launcher, processes, rank, snapshot
from tests.kernel_lines import kernel, kernel_lines

CGROUP = "/slurm/uid_1000/job_77/step_0"
NFS_DOWN = "nfs: server nfs01 not responding, still trying"
CRASH = "python[111]: segfault at 0 ip 0000 sp 0000 error 4 in libc.so.6[1,7f+1]"


def at(at_s: float, *found: ProcessInfo, log: KernelReading | None = None, **fields: object) -> Snapshot:
    return snapshot(at_s, process=processes(at_s, launcher(), *found), kernel=log, **fields)


def both(**fields: Any) -> tuple[ProcessInfo, ProcessInfo]:
    return rank(0, cgroup=CGROUP, **fields), rank(1, cgroup=CGROUP, **fields)


def after(*snapshots: Snapshot) -> Job:
    tracker = JobTracker()
    for each in snapshots:
        job = tracker.advance(each)
    assert job is not None
    return job


def judged(*snapshots: Snapshot) -> Frame:
    assembler = Assembler()
    for each in snapshots:
        frame = assembler.advance(each)
    return frame


def patterns(job: Job) -> list[str]:
    return [event.pattern for event in job.logs.events]


def line(text: str, at_s: float, **fields: object) -> KernelLine:
    return KernelLine(text=text, at_s=at_s, level=3, **fields)  # type: ignore[arg-type]


def test_the_oom_killer_is_the_root_and_the_dead_rank_follows() -> None:
    left = rank(0, cgroup=CGROUP)
    dead = gone(111, 22.0, exit_code=-9)
    frame = judged(
        at(20.0, *both()),
        at(21.0, *both(), log=kernel(21.6, *kernel_lines("memcg_oom.kmsg"))),
        *(
            snapshot(s, process=processes(s, launcher(), left, gone=[dead]))
            for s in (22.0, 23.0, 24.0, 25.0, 26.0, 27.0)
        ),
    )
    (finding,) = [finding for finding in frame.findings if finding.severity == "critical"]
    assert (finding.symptom, finding.ranks) == ("host-oom-kill", (1,))
    assert any("Rank 1 (python, PID 111) was killed by the kernel" in line for line in finding.evidence)
    assert any(folded.startswith("rank-dead") for folded in finding.folded)


def test_what_other_people_do_and_what_is_harmless_raises_nothing() -> None:
    frame = judged(
        at(20.0, *both()),
        at(21.0, *both(), log=kernel(21.0, *kernel_lines("harmless.kmsg"))),
        *(at(s, *both()) for s in (22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0)),
    )
    assert frame.findings == ()
    assert frame.derived.job is not None and frame.derived.job.logs.events == ()


def test_a_process_that_was_just_gone_is_still_known() -> None:
    left = rank(0)
    crash = kernel(24.0, line(CRASH, 23.5))
    job = after(at(20.0, *both()), at(22.0, left), at(24.0, left, log=crash))
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("segfault", 1)]


def test_the_kernel_names_the_thread() -> None:
    threads = tuple(ThreadInfo(tid=tid, comm="python", state="S", cpu_ticks=0) for tid in (111, 1119))
    job = after(
        at(20.0, rank(0), rank(1, threads=threads)),
        at(22.0, rank(0), log=kernel(22.0, line(CRASH.replace("[111]", "[1119]"), 21.5))),
    )
    assert [(event.pattern, event.rank) for event in job.logs.events] == [("segfault", 1)]


def test_lines_that_come_before_the_job_is_known_are_not_lost() -> None:
    crash = kernel(20.0, line(CRASH, 19.0, is_past=True))
    tracker = JobTracker()
    assert tracker.advance(snapshot(20.0, kernel=crash)) is None
    job = tracker.advance(at(21.0, *both()))
    assert job is not None
    assert [(event.pattern, event.rank, event.is_past) for event in job.logs.events] == [("segfault", 1, True)]


def test_what_happened_before_the_ranks_started_is_another_runs() -> None:
    late = tuple(rank(number, cgroup=CGROUP, start_ticks=5000) for number in (0, 1))
    log = kernel(60.0, *kernel_lines("memcg_oom.kmsg", is_past=True), *kernel_lines("gpu.kmsg", is_past=True))
    job = after(at(60.0, *late, log=log), at(61.0, *late))
    assert job.logs.events == ()
    assert job.logs.lines == ()


def gpus(at_s: float) -> GpuReading:
    """Two, and nobody's process on the second."""
    known = [
        Gpu(index=index, vendor="nvidia", name="H100", uuid=None, pci_bus_id=bus, status="ok", processes=processes)
        for index, bus, processes in (
            (0, "00000000:18:00.0", (GpuProcess(pid=111, mem_bytes=1),)),
            (1, "00000000:9A:00.0", ()),
        )
    ]
    return GpuReading(at_s=at_s, gpus=tuple(known))


def test_a_gpu_error_waits_for_the_gpus_to_be_read() -> None:
    log = kernel(20.0, *kernel_lines("gpu.kmsg"))
    seen = (at(23.0, *both(), log=log), at(24.0, *both()))
    assert after(*seen).logs.events == ()
    found = after(*seen, at(25.0, *both(), gpu=gpus(25.0))).logs.events
    assert {(event.xid, event.rank) for event in found if event.pattern == "xid"} == {(31, 1), (79, 1)}
    unread = after(*seen, at(30.0, *both())).logs.events
    assert {event.xid for event in unread if event.pattern == "xid"} == {31, 79, 48}


def test_in_a_pid_namespace_the_kernels_pids_are_others() -> None:
    job = after(at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, CRASH, has_host_pids=False)))
    assert job.logs.events == ()


def test_what_a_program_wrote_into_the_log_is_not_the_kernels_word() -> None:
    job = after(at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, line(CRASH, 21.0, facility=1))))
    assert job.logs.events == ()


MOUNT = MountReading(mount_point="/data", device="nfs01:/export", fs_type="nfs4")


def with_data(at_s: float, log: KernelReading | None = None) -> Snapshot:
    data = OpenFile(fd=5, target="/data/train.bin")
    disk = DiskReading(at_s=at_s, disks=(), mounts=(MOUNT,))
    return at(at_s, *both(files=(data,)), log=log, disk=disk)


def test_a_file_server_that_answers_again_is_no_longer_a_finding() -> None:
    silent = (with_data(20.0), with_data(21.0, kernel(21.0, NFS_DOWN)), with_data(22.0))
    job = after(*silent)
    assert patterns(job) == ["filesystem-hang"]
    assert job.logs.events[0].explanation.startswith("/data, which the job uses: ")
    job = after(*silent, with_data(23.0, kernel(23.0, "nfs: server nfs01 OK")))
    assert job.logs.events == ()


def test_a_silent_server_is_no_finding_for_a_job_that_does_not_use_it() -> None:
    elsewhere = at(21.0, *both(), log=kernel(21.0, NFS_DOWN), disk=DiskReading(at_s=21.0, disks=(), mounts=(MOUNT,)))
    assert after(with_data(20.0), elsewhere).logs.events == after(at(20.0, *both()), elsewhere).logs.events == ()


def nic(at_s: float, *, is_up: bool) -> NetworkReading:
    counters = NicCounters(
        name="eth0", rx_bytes=0, rx_packets=0, rx_errors=0, rx_drops=0, tx_bytes=0, tx_packets=0, tx_errors=0,
        tx_drops=0, is_up=is_up,
    )  # fmt: skip
    return NetworkReading(at_s=at_s, nics=(counters,))


def test_a_link_counts_as_down_until_it_is_up() -> None:
    down = "bnxt_en 0000:19:00.0 eth0: NIC Link is Down"
    seen = (at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, down), network=nic(21.0, is_up=False)))
    assert patterns(after(*seen)) == ["network-link"]
    assert patterns(after(*seen, at(60.0, *both(), network=nic(60.0, is_up=False)))) == ["network-link"]
    assert after(*seen, at(60.0, *both(), network=nic(60.0, is_up=True))).logs.events == ()


def test_what_the_kernel_repeats_while_it_lasts_lapses_when_it_does_not() -> None:
    hung = "INFO: task python:111 blocked for more than 120 seconds."
    seen = (at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, hung)))
    assert [(event.pattern, event.rank) for event in after(*seen, at(200.0, *both())).logs.events] == [
        ("filesystem-hang", 1)
    ]
    assert after(*seen, at(900.0, *both())).logs.events == ()


def test_errors_of_the_kernel_stand_among_the_lines_of_the_logs_in_time() -> None:
    job = after(at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, line("b", 20.9), line("a", 20.5))))
    assert [(each.path, each.text) for each in job.logs.lines] == [("kernel log", "a"), ("kernel log", "b")]


def test_lost_records_are_said() -> None:
    frame = judged(at(20.0, *both()), at(21.0, *both(), log=kernel(21.0, lost_lines=120)))
    assert [spot.reason for spot in frame.blind if spot.source == "kernel"] == [
        "120 records were overwritten before they could be read"
    ]
