"""Rules about what the machine gives to the job: CPU quota, memory, disks, network, open files."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.host.cgroup import CgroupRates, CpuLimitRates
from hwtop.model.host.cpu import Pressure, PressureLine
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.network import NetworkRates, NicRates
from hwtop.model.member import JobProcess
from hwtop.model.reported.log import LogFile
from hwtop.model.reported.metrics import MetricsFile
from hwtop.symptoms.host.cgroup import check_throttled
from hwtop.symptoms.host.network import check_rdma, check_retransmits
from hwtop.symptoms.host.network import check_saturated as check_link
from hwtop.symptoms.host.open_files import check_fd_leak
from hwtop.symptoms.host.paging import check_page_cache, check_swapping
from hwtop.symptoms.host.resources import check_memory, check_processes
from hwtop.symptoms.host.shm import check_shm
from hwtop.symptoms.host.storage import check_nearly_full, check_saturated
from hwtop.symptoms.rule import Observation
from tests.parts import replace
from tests.symptoms.derived_states import constant, cpu, derived, history, job, memory, rank, row, shares

WAITS = rank(phase_shares=shares(data=0.6, forward=0.4))


def severity(seen: Observation | None) -> str | None:
    return seen.severity if seen else None


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, None), (4.9, None), (5.1, "info"), (24.0, "info"), (26.0, "warning")]
)
def test_a_cpu_limit_counts_when_it_is_met_often(share: float, expected: str | None) -> None:
    limits = CgroupRates(
        cpu_quota_cores=2.0,
        throttled_periods_pct=share,
        mem_limit_bytes=None,
        mem_used_bytes=None,
        mem_cache_bytes=None,
        oom_kills_new=None,
    )
    seen = check_throttled(constant(job(rank(0), rank(1)), 40, cgroup=limits))

    assert severity(seen) == expected
    if seen is not None:
        assert "2 cores" in seen.title
        assert any("OMP_NUM_THREADS=1" in step for step in seen.next_steps)
        assert any("cores of the machine are idle" in line for line in seen.evidence)


@pytest.mark.parametrize(
    ("share", "seconds", "expected"), [(55.0, 12, "warning"), (45.0, 12, None), (45.0, 40, "warning"), (55.0, 8, None)]
)
def test_a_limit_that_is_met_in_every_other_period_is_told_early(
    share: float, seconds: int, expected: str | None
) -> None:
    limits = CgroupRates(
        cpu_quota_cores=2.0,
        throttled_periods_pct=share,
        mem_limit_bytes=None,
        mem_used_bytes=None,
        mem_cache_bytes=None,
        oom_kills_new=None,
    )
    assert severity(check_throttled(constant(job(rank(0)), seconds, cgroup=limits))) == expected


def test_a_limit_of_one_rank_names_that_rank() -> None:
    of_rank = CpuLimitRates(path="/job/rank1", pids=(1001,), cpu_quota_cores=0.3, throttled_periods_pct=90.0)
    limits = CgroupRates(
        cpu_quota_cores=None,
        throttled_periods_pct=None,
        mem_limit_bytes=None,
        mem_used_bytes=None,
        mem_cache_bytes=None,
        oom_kills_new=None,
        others=(of_rank,),
    )
    seen = check_throttled(constant(job(rank(0), rank(1, tree_cpu_pct=30.0)), 40, cgroup=limits))
    assert seen is not None
    assert (seen.title, seen.ranks) == ("Rank 1: CPU limit of 0.3 cores, throttled in 90 % of the periods", (1,))
    assert "rank 1 used 0.3 cores, and wants more" in seen.evidence


def test_without_a_limit_nothing_is_throttled() -> None:
    assert check_throttled(constant(job(rank()), 40)) is None


@pytest.mark.parametrize(
    ("read", "written", "is_found"),
    [(0.0, 0.0, False), (9.0, 5000.0, False), (40.0, 50.0, False), (60.0, 60.0, True), (500.0, 0.0, True)],
)
def test_swapping_is_what_goes_in_and_out_not_what_is_used(read: float, written: float, is_found: bool) -> None:
    paging = replace(memory(), swap_total_bytes=8 * 10**9, swap_used_bytes=4 * 10**9, swap_in_pages_per_s=read,
                     swap_out_pages_per_s=written)  # fmt: skip
    assert (check_swapping(constant(job(rank()), 15, memory=paging)) is not None) is is_found


@pytest.mark.parametrize(
    ("refaults", "faults", "is_found"),
    [(None, 200.0, False), (9_000.0, 200.0, False), (12_000.0, 50.0, False), (12_000.0, 200.0, True)],
)
def test_a_page_cache_thrashes_when_pages_come_back_at_once(
    refaults: float | None, faults: float, is_found: bool
) -> None:
    paging = replace(memory(), file_refaults_per_s=refaults, major_faults_per_s=faults)
    assert (check_page_cache(constant(job(rank()), 70, memory=paging)) is not None) is is_found


def disk(busy_pct: float = 99.0, latency_ms: float | None = 60.0) -> DiskRates:
    return DiskRates(
        name="sda",
        read_bytes_per_s=8e7,
        write_bytes_per_s=0.0,
        reads_per_s=300.0,
        writes_per_s=0.0,
        latency_ms=latency_ms,
        busy_pct=busy_pct,
        in_flight=12,
    )


@pytest.mark.parametrize(
    ("device", "stalled_pct", "watched", "expected"),
    [
        (disk(), 40.0, WAITS, "warning"),
        (disk(), 40.0, rank(), "info"),  # somebody else's load: the job does not wait for it
        (disk(), 2.0, WAITS, None),
        (disk(busy_pct=90.0), 40.0, WAITS, None),
        (disk(latency_ms=1.0), 40.0, WAITS, None),  # an SSD that serves many at once
        (disk(latency_ms=None), 40.0, WAITS, None),
    ],
)
def test_a_disk_is_at_its_limit_when_requests_queue(
    device: DiskRates, stalled_pct: float, watched: Any, expected: str | None
) -> None:
    line = PressureLine(avg10_pct=stalled_pct, avg60_pct=0.0, avg300_pct=0.0, total_us=0)
    processor = replace(cpu(), psi={"io": Pressure(some=line)})
    assert severity(check_saturated(constant(job(watched), 30, disks=(device,), cpu=processor))) == expected


def mount(point: str, left_gb: float, total_gb: float = 1000.0, inodes_pct: float | None = 10.0) -> MountReading:
    total, left = int(total_gb * 1e9), int(left_gb * 1e9)
    return MountReading(
        mount_point=point,
        device="/dev/sda1",
        fs_type="ext4",
        total_bytes=total,
        used_bytes=total - left,
        available_bytes=left,
        inodes_used_pct=inodes_pct,
    )


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ((mount("/", 500.0), mount("/out", 300.0)), None),
        ((mount("/", 500.0), mount("/out", 40.0)), None),  # 96 % of a large disk leaves room for checkpoints
        ((mount("/", 500.0), mount("/out", 9.0)), "info"),
        ((mount("/", 500.0), mount("/out", 1.5)), "warning"),
        ((mount("/", 0.5), mount("/out", 300.0)), "info"),  # not where the job writes
        ((mount("/", 500.0), mount("/out", 300.0, inodes_pct=99.0)), "warning"),
    ],
)
def test_a_full_disk_matters_most_where_the_job_writes(mounts: tuple[MountReading, ...], expected: str | None) -> None:
    log = LogFile(path="/out/run/log.txt", pids=(1000,), size_bytes=1, age_s=0.0)
    assert severity(check_nearly_full(constant(job(rank(), log_files=(log,)), 5, mounts=mounts))) == expected


def test_a_metrics_file_that_nobody_of_the_job_has_open_is_not_its_own() -> None:
    found = MetricsFile(path="/out/log.txt", kind="jsonl")  # it lies in a folder below the working directory
    watched = job(rank(), log_files=(), metrics_files=(found,))
    assert severity(check_nearly_full(constant(watched, 5, mounts=(mount("/", 500.0), mount("/out", 1.0))))) == "info"


def nic(name: str = "eth0", **fields: Any) -> NicRates:
    known: dict[str, Any] = {
        "name": name,
        "rx_bytes_per_s": 0.0,
        "tx_bytes_per_s": 0.0,
        "errors_per_s": 0.0,
        "drops_per_s": 0.0,
        "link_mbit_per_s": 10_000.0,
        "is_up": True,
        "is_virtual": False,
    }
    return NicRates(**(known | fields))


def network(*nics: NicRates, retransmit_pct: float | None = None) -> NetworkRates:
    return NetworkRates(nics=nics, tcp_retransmit_pct=retransmit_pct)


@pytest.mark.parametrize(
    ("interface", "watched", "expected"),
    [
        (nic(rx_bytes_per_s=1.2e9), WAITS, "warning"),
        (nic(tx_bytes_per_s=1.2e9), rank(), "info"),
        (nic(rx_bytes_per_s=1.0e9), WAITS, None),
        (nic(rx_bytes_per_s=1.2e9, is_virtual=True), WAITS, None),
        (nic(rx_bytes_per_s=1.2e9, link_mbit_per_s=None), WAITS, None),
    ],
)
def test_a_link_is_at_its_limit_near_its_speed(interface: NicRates, watched: Any, expected: str | None) -> None:
    assert severity(check_link(constant(job(watched), 20, network=network(interface)))) == expected


@pytest.mark.parametrize(
    ("share", "world_size", "expected"),
    [(None, 16, None), (0.05, 16, None), (0.3, 16, "info"), (2.0, 16, "warning"), (2.0, 1, "info"), (0.3, 1, None)],
)
def test_retransmits_matter_between_machines(share: float | None, world_size: int, expected: str | None) -> None:
    watched = job(rank(), world_size=world_size)
    assert severity(check_retransmits(constant(watched, 40, network=network(retransmit_pct=share)))) == expected


def test_a_port_that_counts_errors_again_and_again_is_sick() -> None:
    def at(second: int, errors: set[int]) -> Any:
        return derived(
            float(second), job(rank()), network=network(nic("mlx5_0:1", errors_per_s=float(second in errors)))
        )

    assert check_rdma(history(60, lambda second: at(second, {5, 6}))) is None
    seen = check_rdma(history(60, lambda second: at(second, {5, 20, 40})))
    assert seen is not None and "mlx5_0:1" in seen.title


def test_a_port_that_goes_down_is_told_and_one_that_never_was_up_is_not() -> None:
    def at(second: int) -> Any:
        falls, unused = nic("mlx5_0:1", is_up=second < 30), nic("mlx5_1:1", is_up=False)
        return derived(float(second), job(rank()), network=network(unused, falls))

    assert severity(check_rdma(history(40, at))) == "critical"
    assert check_rdma(constant(job(rank()), 40, network=network(nic("mlx5_1:1", is_up=False)))) is None


def process(count: int, limit: int | None = 1024) -> JobProcess:
    return row(fd_count=count, fd_limit=limit, start_ticks=7)


@pytest.mark.parametrize(
    ("count", "limit", "expected"),
    [
        (lambda second: 40, 1024, None),
        (lambda second: 40 + second // 2, 1024, None),  # too few yet
        (lambda second: 40 if second < 20 else 240, 1024, None),  # loader workers have started
        (lambda second: 40 + 6 * second, 1024, "warning"),
        (lambda second: 40 + 2 * second, 1_048_576, "info"),  # the limit is days away
        (lambda second: 40 + 3 * second, 20_000, "warning"),  # the limit is less than two hours away
        (lambda second: 40 + 60 * second, 30_000, "warning"),  # little is used, but it is gone in minutes
        (lambda second: 40 + 9 * second, 1_048_576, "warning"),  # hundreds, and none is ever closed
        (lambda second: 40 + int(500 * (second / 60) ** 0.5), 1_048_576, "info"),  # shards that are opened once
    ],
)
def test_open_files_that_rise_on_a_line_are_a_leak(count: Any, limit: int, expected: str | None) -> None:
    def at(second: int) -> Any:
        known = process(count(second), limit) if second else replace(process(0), fd_count=None)  # not at the first look
        return derived(float(second), job(rank(), processes=(known,)))

    assert severity(check_fd_leak(history(60, at))) == expected


def test_of_both_ends_of_a_connection_the_ranks_own_is_named() -> None:
    def at(second: int) -> Any:
        server = row(2000, role="other", fd_count=60 + 6 * second, fd_limit=1024, start_ticks=8)
        return derived(float(second), job(rank(), processes=(server, process(40 + 6 * second))))

    seen = check_fd_leak(history(60, at))
    assert seen is not None
    assert (seen.ranks, seen.title.split(" opens")[0]) == ((0,), "Rank 0")
    assert "360 more per minute" in seen.title


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (lambda second: 992, "warning"),
        (lambda second: 900, None),
        (lambda second: 492 + 500 * (second > 35), "warning"),  # in one burst, and 32 are left
    ],
)
def test_a_process_with_hardly_a_descriptor_left_is_told_whether_or_not_it_rises(
    count: Any, expected: str | None
) -> None:
    seen = check_fd_leak(
        history(60, lambda second: derived(float(second), job(rank(), processes=(process(count(second)),))))
    )
    assert severity(seen) == expected
    assert seen is None or "992 of 1024 allowed files open" in seen.title


def shm(used: float) -> MountReading:
    return MountReading(
        mount_point="/dev/shm", device="shm", fs_type="tmpfs", total_bytes=10**9, used_bytes=int(used * 1e9)
    )


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        (lambda second: 0.30 + 0.01 * second, True),  # 0.7 full, the rest in half a minute
        (lambda second: 0.05 + 0.01 * second, False),  # it may end far below
        (lambda second: 0.30 + 0.4 * (second > 20), False),  # a buffer that was filled
        (lambda second: 0.60 + 0.001 * second, False),  # in minutes: who knows
    ],
)
def test_shared_memory_that_will_be_full_soon_is_told_before(used: Any, expected: bool) -> None:
    seen = check_shm(history(40, lambda second: derived(float(second), job(rank()), mounts=(shm(used(second)),))))
    assert (seen is not None) is expected


def test_a_disk_that_the_job_fills_is_told_while_there_is_room() -> None:
    def at(second: int) -> Any:
        log = LogFile(path="/out/train.log", pids=(1000,), size_bytes=1, age_s=0.0)
        return derived(float(second), job(rank(), log_files=(log,)), mounts=(mount("/out", 300.0 - 4 * second),))

    seen = check_nearly_full(history(60, at))
    assert severity(seen) == "warning"
    assert seen is not None
    assert "at this rate the limit is reached in 15 s" in seen.evidence


def group(**fields: Any) -> CgroupRates:
    known: dict[str, Any] = {
        "cpu_quota_cores": None,
        "throttled_periods_pct": None,
        "mem_limit_bytes": 10**10,
        "mem_used_bytes": 10**9,
        "mem_cache_bytes": 0,
        "oom_kills_new": None,
    }
    return CgroupRates(**(known | fields))


@pytest.mark.parametrize(("used_gb", "cache_gb", "expected"), [(9.6, 0.0, True), (9.6, 5.0, False), (9.4, 0.0, False)])
def test_memory_that_is_nearly_full_counts_without_the_page_cache(
    used_gb: float, cache_gb: float, expected: bool
) -> None:
    limits = group(mem_used_bytes=int(used_gb * 1e9), mem_cache_bytes=int(cache_gb * 1e9))
    seen = check_memory(constant(job(rank()), 5, cgroup=limits))
    assert (seen is not None) is expected
    assert seen is None or seen.title == "Memory of the cgroup: 96 % used"


@pytest.mark.parametrize(("used", "expected"), [(899, None), (900, "warning")])
def test_processes_and_threads_near_their_limit(used: int, expected: str | None) -> None:
    assert (
        severity(check_processes(constant(job(rank()), 5, cgroup=group(pids_used=used, pids_limit=1000)))) == expected
    )
    rows = (
        row(user="ada", thread_count=used - 10, process_limit=1000),
        row(1001, user="ada", thread_count=10, process_limit=1000),
    )
    assert severity(check_processes(constant(job(rank(), processes=rows), 5))) == expected
