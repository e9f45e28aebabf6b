"""GPUs and driver: each check passes on eight healthy H100, and does not where one thing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hwtop.model.check import CheckStatus as Status
from hwtop.model.gpu.device import Gpu, GpuProcess, MigInstance
from hwtop.model.gpu.health import EccErrors, RemappedRows, RetiredPages
from hwtop.model.host.kernel import KernelLine, KernelReading
from hwtop.preflight.gpus import GPUS
from tests.kernel_lines import kernel_lines
from tests.preflight.machines import GIB, ask, h100, machine

_PROCESS = GpuProcess(pid=4242, mem_bytes=20 * GIB)
_NO_ERRORS = EccErrors(is_enabled=True, volatile_corrected=0, volatile_uncorrected=0)


def box(**values: object) -> tuple[Gpu, ...]:
    """Eight, the third with these values."""
    return tuple(h100(index, **{"ecc": _NO_ERRORS, **(values if index == 3 else {})}) for index in range(8))


@pytest.mark.parametrize("check", [check.id for check in GPUS.checks])
def test_a_healthy_box_passes(check: str) -> None:
    healthy = machine(gpus=box(), kernel=KernelReading(at_s=100.0, origin="/dev/kmsg", lines=()))
    assert ask(GPUS, check, healthy).status == "pass"


@pytest.mark.parametrize("check", [check.id for check in GPUS.checks if check.id != "gpu-xid"])
def test_without_a_gpu_all_are_skipped_with_the_reason(check: str) -> None:
    found = ask(GPUS, check, machine(refused={"gpu": "no NVIDIA driver: libnvidia-ml.so.1 not found"}))
    assert (found.status, found.reason) == ("skip", "no NVIDIA driver: libnvidia-ml.so.1 not found")


@pytest.mark.parametrize(
    ("check", "values", "status", "words"),
    [
        ("gpu-count", {"status": "lost", "reason": "GPU is lost"}, "fail", "GPU 3: GPU is lost"),
        ("gpu-memory-errors", {"ecc": replace(_NO_ERRORS, volatile_uncorrected=2)}, "warn", "2 uncorrected"),
        ("gpu-ecc-mode", {"ecc": replace(_NO_ERRORS, is_enabled=False)}, "warn", "ECC is off on GPU 3"),
        (
            "gpu-row-remapping",
            {"remapped": RemappedRows(corrected=0, uncorrected=1, is_pending=True, has_failed=False)},
            "warn",
            "waits for a reset",
        ),
        (
            "gpu-row-remapping",
            {"remapped": RemappedRows(corrected=0, uncorrected=9, is_pending=False, has_failed=True)},
            "fail",
            "remapping failed",
        ),
        ("gpu-row-remapping", {"retired": RetiredPages(single_bit=9, double_bit=9)}, "warn", "18 memory pages"),
        ("gpu-power-limit", {"power_limit_w": 500.0, "power_limit_default_w": 700.0}, "warn", "500 W instead of 700 W"),
        ("gpu-clocks", {"throttle": ("idle", "hw_power_brake")}, "warn", "hw_power_brake"),
        ("gpu-clocks", {"sm_clock_max_mhz": 1200.0}, "warn", "its peers have"),
        ("gpu-persistence", {"persistence_mode": False}, "warn", "GPU 3"),
        ("gpu-mode", {"compute_mode": "exclusive process"}, "warn", "exclusive process"),
        ("gpu-mode", {"compute_mode": "prohibited"}, "fail", "prohibited"),
        ("gpu-mode", {"mig_mode": True}, "fail", "without instances"),
        ("gpu-mode", {"mig_mode": True, "mig": (MigInstance(index=0, uuid=None),)}, "warn", "NCCL"),
        ("gpu-free", {"processes": (_PROCESS,)}, "warn", "GPU 3 in use by PID 4242"),
        ("gpu-zombie-memory", {"processes": (replace(_PROCESS, state="X"),)}, "warn", "no longer exists"),
        ("gpu-idle-temperature", {"temp_c": 61.0}, "warn", "idle at 61 °C"),
    ],
)
def test_one_thing_is_wrong(check: str, values: dict[str, object], status: Status, words: str) -> None:
    found = ask(GPUS, check, machine(gpus=box(**values)))
    assert found.status == status
    assert words in found.reason
    assert found.remedy


@pytest.mark.parametrize(
    ("env", "status"),
    [
        ({"SLURM_GPUS_ON_NODE": "9"}, "fail"),
        ({"SLURM_GPUS_ON_NODE": "8"}, "pass"),
        ({"NVIDIA_VISIBLE_DEVICES": "all"}, "pass"),
    ],
)
def test_who_promises_how_many(env: dict[str, str], status: Status) -> None:
    assert ask(GPUS, "gpu-count", machine(gpus=box(), env=env)).status == status


def test_a_gpu_that_only_pci_lists_is_missed(tmp_path: Path) -> None:
    files: dict[str, str] = {}
    for bus in range(9):
        folder = f"sys/bus/pci/devices/0000:{bus:02x}:00.0"
        files |= {f"{folder}/vendor": "0x10de", f"{folder}/device": "0x2330", f"{folder}/class": "0x030200"}
    found = ask(GPUS, "gpu-count", machine(tmp_path, files, gpus=box()))
    assert (found.status, found.reason) == ("fail", "8 GPUs answer, PCI promises 9")
    in_slurm = machine(tmp_path, gpus=box(), env={"SLURM_JOB_ID": "1"})
    assert ask(GPUS, "gpu-count", in_slurm).status == "pass"


@pytest.mark.parametrize(
    ("value", "status"), [("0,1", "pass"), ("0,8", "fail"), ("", "fail"), ("-1", "fail"), ("GPU-00000003", "pass")]
)
def test_visible_devices(value: str, status: Status) -> None:
    assert ask(GPUS, "gpu-visible", machine(gpus=box(), env={"CUDA_VISIBLE_DEVICES": value})).status == status


def test_driver_and_library_differ() -> None:
    mismatch = machine(refused={"gpu": "NVIDIA driver/library version mismatch: the driver was upgraded"})
    assert ask(GPUS, "gpu-driver", mismatch).status == "warn"
    assert ask(GPUS, "gpu-count", mismatch).status == "fail"


def test_a_driver_that_hangs_is_a_failure() -> None:
    hung = machine(refused={"gpu": "NVIDIA driver not answering: nvmlInit has not returned for 3 s"})
    assert ask(GPUS, "gpu-count", hung).status == "fail"
    assert {ask(GPUS, check.id, hung).status for check in GPUS.checks if check.id != "gpu-count"} == {"skip"}


def test_xid_of_hardware_counts_and_those_of_programs_do_not() -> None:
    def log(*texts: str) -> Struct:
        lines = tuple(KernelLine(text=text, at_s=1.0, level=3, facility=0, sequence=None) for text in texts)
        return KernelReading(at_s=100.0, origin="/dev/kmsg", lines=lines)

    program = "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=python, Ch 00000008, MMU Fault"
    assert ask(GPUS, "gpu-xid", machine(kernel=log(program))).status == "pass"
    fallen = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    found = ask(GPUS, "gpu-xid", machine(kernel=log(program, fallen, fallen)))
    assert found.status == "fail"
    assert "Xid 79" in found.reason
    assert "2 times" in found.reason
    recorded = KernelReading(at_s=100.0, origin="/dev/kmsg", lines=kernel_lines("gpu.kmsg"))
    assert ask(GPUS, "gpu-xid", machine(kernel=recorded)).status in ("warn", "fail")
    assert ask(GPUS, "gpu-xid", machine(refused={"kernel": "may not be read"})).reason == "may not be read"
