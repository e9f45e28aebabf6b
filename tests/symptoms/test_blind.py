from __future__ import annotations

from typing import Any

from hwtop.model.gpu.device import Gpu
from hwtop.model.host.disk import MountReading
from hwtop.model.job import Job, JobRas
from hwtop.model.reported.log import LogFile
from hwtop.model.reported.metrics import MetricsFile
from hwtop.model.snapshot import SourceStatus
from hwtop.model.stack import Refusal
from hwtop.symptoms.blind import blind_spots
from tests.parts import replace
from tests.symptoms.derived_states import derived, job, rank

LOG = LogFile(path="/logs/rank_0.log", pids=(1000,), size_bytes=5, age_s=1.0)


def spots(watched: Job | None = None, **fields: Any) -> list[tuple[str, str]]:
    return [(spot.source, spot.reason) for spot in blind_spots(derived(1.0, watched, **fields))]


def test_nothing_is_blind_where_all_answer() -> None:
    sources = (SourceStatus(name="cpu", status="ok", age_s=0.1),)
    gpu = Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok")
    assert spots(job(rank(), log_files=(LOG,)), sources=sources, gpus=(gpu,)) == []


def test_a_source_that_is_only_late_is_not_told_before_it_is_due() -> None:
    late = SourceStatus(name="disk", status="stale", reason="not answering for 2 s")
    gone = SourceStatus(name="cpu", status="unavailable", reason="no /proc/stat")
    now = derived(1.0, None, sources=(late, gone))
    assert [spot.source for spot in blind_spots(now, watched_s=0.0)] == ["cpu"]
    assert [spot.source for spot in blind_spots(now)] == ["disk", "cpu"]


def test_sources_gpus_and_mounts_tell_why() -> None:
    sources = (
        SourceStatus(name="cpu", status="ok"),
        SourceStatus(name="gpu", status="unavailable", reason="no NVIDIA driver"),
        SourceStatus(name="disk", status="stale", reason="not answering for 12 s"),
        SourceStatus(name="network", status="unavailable"),
    )
    lost = Gpu(index=3, vendor="nvidia", name="H100", uuid=None, status="lost", reason="fell off the bus")
    odd = Gpu(index=4, vendor="nvidia", name="H100", uuid=None, status="error")
    mount = MountReading(mount_point="/mnt/nfs", device="a:/b", fs_type="nfs4", reason="not answering")
    assert spots(sources=sources, gpus=(lost, odd), mounts=(mount,)) == [
        ("gpu", "no NVIDIA driver"),
        ("disk", "not answering for 12 s"),
        ("network", "no reading"),
        ("gpu 3", "fell off the bus"),
        ("gpu 4", "error"),
        ("mount /mnt/nfs", "not answering"),
    ]


def test_stacks_and_logs_tell_why_once() -> None:
    unreadable = LogFile(path="/logs/rank_1.log", pids=(), size_bytes=None, age_s=None, reason="permission denied")
    watched = job(
        rank(),
        log_files=(LOG, unreadable),
        stack_errors=(("Permission denied", "run as root"), ("gone", ""), ("Permission denied", "run as root")),
    )
    assert spots(watched) == [
        ("stacks", "Permission denied; run as root"),
        ("stacks", "gone"),
        ("log /logs/rank_1.log", "permission denied"),
    ]


def test_refusals_name_the_ranks_and_are_not_told_twice() -> None:
    denied = Refusal(rung="py-spy", reason="no permission", advice="sudo hwtop 110", ranks=(0, 1, 2))
    no_server = Refusal(rung="debug-server", reason="no debug server runs in it", ranks=(1,))
    watched = job(
        rank(),
        log_files=(LOG,),
        refusals=(denied, no_server, Refusal(rung="sudo", reason="sudo -n: not installed")),
        stack_errors=(("no permission", "sudo hwtop 110"), ("the process is starting", "hwtop tries again")),
    )
    assert spots(watched) == [
        ("stacks", "ranks 0-2: py-spy: no permission; sudo hwtop 110"),
        ("stacks", "rank 1: debug-server: no debug server runs in it"),
        ("stacks", "sudo: sudo -n: not installed"),
        ("stacks", "the process is starting; hwtop tries again"),
    ]


def test_a_job_without_a_readable_log() -> None:
    reported = [("logs", "no readable log file found: name one with --logs 'GLOB'")]
    assert spots(job(rank())) == reported
    assert spots(job(rank(), has_ended=True)) == []


def test_a_pattern_for_logs_that_no_file_matches() -> None:
    told = replace(derived(12.0, job(rank())), missing={"logs.globs": "--logs /nope/*.log: no such file yet"})
    assert [(spot.source, spot.reason) for spot in blind_spots(told)] == [
        ("logs", "--logs /nope/*.log: no such file yet")
    ]


def test_ranks_on_other_machines() -> None:
    here = (rank(0), rank(1))
    assert spots(job(*here, world_size=8, local_world_size=2, log_files=(LOG,))) == [
        ("ranks", "2 of 8 ranks are visible on this machine")
    ]
    # all of them belong here: one that is missing is dead, not invisible
    assert spots(job(*here, world_size=3, local_world_size=3, log_files=(LOG,))) == []


def test_gpus_of_ranks_that_are_not_known() -> None:
    why = "not in the driver's process list, and under MPS its numbers count the devices of the MPS server"
    ranks = (
        rank(0, gpus_reason=why),
        rank(1, gpus_reason=why),
        rank(2, gpus=(2,)),
        rank(3, is_alive=False, gpus_reason=why),
    )
    assert spots(job(*ranks, log_files=(LOG,), local_world_size=4)) == [
        ("gpu", f"which GPU is that of ranks 0-1 is not known: {why}")
    ]


def test_a_metrics_file_that_cannot_be_read_is_told() -> None:
    file = MetricsFile(path="/run/events.out", kind="tensorboard", reason="permission denied: run hwtop as its owner")

    assert ("metrics /run/events.out", "permission denied: run hwtop as its owner") in spots(
        watched=job(rank(), metrics_files=(file,))
    )


def test_a_silent_ras_port_is_named_while_the_job_looks_stuck() -> None:
    silent = JobRas(reason="8 of 8 connections silent", pids=(1000,))
    assert ("NCCL RAS", "8 of 8 connections silent") in spots(job(rank(), log_files=(LOG,), ras=silent))
    assert spots(job(rank(), log_files=(LOG,), ras=replace(silent, pids=()))) == []
