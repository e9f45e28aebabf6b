"""bench/gpu_check.py, which is made for real GPUs: its reading of nvidia-smi, and a run against the fake NVML."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.fakenvml.fixture import FakeNvml

HERE = Path(__file__).parent
BENCH = HERE.parent.parent / "bench"
XML = HERE / "nvidia_smi_h100.xml"
MIB = 1024**2


@pytest.fixture(scope="module")
def smi_xml() -> ModuleType:
    spec = spec_from_file_location("smi_xml", BENCH / "smi_xml.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["smi_xml"] = module
    spec.loader.exec_module(module)
    return module


def test_what_nvidia_smi_says_in_our_units(smi_xml: ModuleType) -> None:
    (gpu,) = smi_xml.parsed(XML.read_text()).values()
    assert {field: gpu.value(field) for field in ("power_limit_w", "pcie_width", "pstate", "mem_temp_c")} == {
        "power_limit_w": 700.0,
        "pcie_width": 16.0,
        "pstate": 0.0,
        "mem_temp_c": 74.0,
    }
    assert gpu.value("mem_total_bytes") == 81559 * MIB
    assert gpu.value("pcie_tx_bytes_per_s") == 900000 * 1024
    assert (gpu.value("compute_mode"), gpu.value("mig_mode"), gpu.value("ecc.is_enabled")) == ("default", False, True)
    assert (gpu.value("ecc.volatile_corrected"), gpu.value("ecc.sram_uncorrected")) == (133.0, 0.0)
    assert (gpu.value("remapped.is_pending"), gpu.value("retired.double_bit"), gpu.value("fan_pct")) == (
        True,
        None,
        None,
    )
    assert gpu.value("counters.power_violation_ns") == 91403239e3
    assert gpu.throttle() == ("sw_power_cap", "hw_thermal")
    assert gpu.limit_c("gpu_temp_max_tlimit_threshold") == 95.0
    assert gpu.processes() == {4101: ("C", "70912 MiB")}
    assert gpu.mig() == {}


def test_names_of_older_drivers(smi_xml: ModuleType) -> None:
    text = (
        '<nvidia_smi_log><gpu id="00000000:1B:00.0"><power_readings><enforced_power_limit>250.00 W</enforced_power_limit>'
        "</power_readings><ecc_errors><volatile><sram_uncorrectable>3</sram_uncorrectable></volatile></ecc_errors>"
        "<clocks_throttle_reasons><clocks_throttle_reason_gpu_idle>Active</clocks_throttle_reason_gpu_idle>"
        "</clocks_throttle_reasons><mig_devices><mig_device><index>0</index><gpu_instance_id>2</gpu_instance_id>"
        "<compute_instance_id>0</compute_instance_id><fb_memory_usage><total>20096 MiB</total></fb_memory_usage>"
        "</mig_device></mig_devices></gpu></nvidia_smi_log>"
    )
    gpu = smi_xml.parsed(text)["0000:1b:00.0"]
    assert (gpu.value("power_limit_w"), gpu.value("ecc.sram_uncorrected")) == (250.0, 3.0)
    assert gpu.throttle() == ("idle",)
    assert gpu.mig() == {0: (2, 0, 20096 * MIB)}


def test_a_run_beside_nvidia_smi(fake_nvml: FakeNvml, tmp_path: Path) -> None:
    fake_nvml.load("errors")
    smi = tmp_path / "nvidia-smi"
    smi.write_text(f'#!/bin/sh\n[ "$*" = "-q -x" ] && cat {XML}\n')
    smi.chmod(0o755)
    env = fake_nvml.env | {"PATH": f"{tmp_path}:{fake_nvml.env['PATH']}", "PYTHONPATH": str(BENCH.parent)}
    done = subprocess.run([sys.executable, str(BENCH / "gpu_check.py")], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "DIFFERS" not in done.stdout
    assert "\n0 of 25 fields differ that must not" in done.stdout
    assert "nvmlDeviceGetFieldValues" in done.stdout
