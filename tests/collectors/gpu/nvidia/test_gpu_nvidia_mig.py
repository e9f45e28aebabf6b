"""GPUs that are split into MIG instances, on the fake NVML."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwtop.collectors.gpu.nvidia.mig import profile
from hwtop.model.gpu.device import GpuProcess, MigInstance
from tests.fakenvml.fixture import HERE, PIDS, FakeNvml

MIB = 1024**2
UUID = "MIG-9a1f3f0c-1c3b-5d5e-8f5e-0d7bb5a5d00"


def test_instances_have_memory_and_processes_of_their_own(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    split, whole = fake_nvml.probe().read()
    ranks = [
        GpuProcess(pid=PIDS["rank0"], mem_bytes=15880 * MIB, mig=0),
        GpuProcess(pid=PIDS["rank1"], mem_bytes=6400 * MIB, mig=1),
    ]
    assert split.mig[0] == MigInstance(
        index=0,
        uuid=f"{UUID}1",
        name="3g.20gb",
        gpu_instance=2,
        compute_instance=0,
        multiprocessors=42,
        mem_used_bytes=15920 * MIB,
        mem_total_bytes=20096 * MIB,
        processes=(ranks[0],),
    )
    assert [(mig.name, mig.gpu_instance, mig.processes) for mig in split.mig[1:]] == [
        ("2g.10gb", 5, (ranks[1],)),
        ("1g.5gb", 9, ()),
    ]
    assert split.processes == tuple(ranks)
    assert (split.mig_mode, whole.mig_mode, whole.mig) == (True, False, ())


def test_what_mig_hides_is_said(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    split, whole = fake_nvml.probe().read()
    assert (split.status, split.util_pct, split.mem_util_pct, split.encoder_pct) == ("ok", None, None, None)
    for field in ("util_pct", "mem_util_pct", "encoder_pct", "decoder_pct"):
        assert split.missing[field] == "MIG mode: utilization is per instance"
    assert split.missing["processes.sm_pct"].startswith("MIG mode")
    assert split.mem_used_bytes == 22400 * MIB
    assert whole.util_pct is not None


def test_an_instance_is_destroyed_and_another_made(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    scenario = (HERE / "scenarios" / "a100-mig.scn").read_text()
    first, rest = scenario.split("[gpu 0 mig 0]")
    after = (
        first + "[gpu 0 mig 1]" + rest.split("[gpu 0 mig 1]")[1].replace("d003", "d009").replace("1g.5gb", "1g.10gb")
    )
    other = tmp_path / "other.scn"
    other.write_text(after)
    fake_nvml.load("a100-mig")
    probe = fake_nvml.probe(0)
    assert [mig.index for mig in probe.read()[0].mig] == [0, 1, 2]
    fake_nvml.load(str(other))
    probe.say("advance 2")
    (gpu,) = probe.read()
    assert [(mig.index, mig.uuid, mig.name) for mig in gpu.mig] == [
        (1, f"{UUID}2", "2g.10gb"),
        (2, f"{UUID}9", "1g.10gb"),
    ]


def test_mig_is_switched_off(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    probe = fake_nvml.probe(0)
    probe.read()
    fake_nvml.set(0, mig=0)
    probe.say("advance 2")
    (gpu,) = probe.read()
    assert (gpu.mig_mode, gpu.mig) == (False, ())
    assert gpu.util_pct is not None


@pytest.mark.parametrize(
    ("function", "field", "error", "reason"),
    [
        ("nvmlDeviceGetComputeRunningProcesses*", "processes", "NO_PERMISSION", "permission denied"),
        ("nvmlDeviceGetMemoryInfo*", "mem_used_bytes", "NO_PERMISSION", "permission denied"),
        ("nvmlDeviceGetGpuInstanceId", "gpu_instance", "UNKNOWN", "nvmlDeviceGetGpuInstanceId: Unknown Error"),
        ("nvmlDeviceGetAttributes*", "multiprocessors", "NOT_SUPPORTED", "not supported by this GPU"),
    ],
)
def test_what_an_instance_refuses_is_said(
    fake_nvml: FakeNvml, function: str, field: str, error: str, reason: str
) -> None:
    fake_nvml.load("a100-mig")
    fake_nvml.fail(0, function, error)
    (gpu,) = fake_nvml.probe(0).read()
    assert len(gpu.mig) == 3
    for instance in gpu.mig:
        assert getattr(instance, field) is None
        assert instance.missing[field] == reason


def test_instances_that_cannot_be_listed(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    fake_nvml.fail(0, "nvmlDeviceGetMigMode", "UNKNOWN")
    probe = fake_nvml.probe(0)
    (gpu,) = probe.read()
    assert (gpu.status, gpu.mig_mode, gpu.mig) == ("ok", None, ())
    assert "Unknown Error" in gpu.missing["mig"]
    fake_nvml.undo()
    (gpu,) = probe.read()
    assert (gpu.mig_mode, len(gpu.mig)) == (True, 3)
    assert "mig" not in gpu.missing


def test_profile_in_a_name() -> None:
    assert profile("NVIDIA A100-SXM4-40GB MIG 3g.20gb") == "3g.20gb"
