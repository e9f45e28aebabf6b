"""torch in an interpreter of its own: what it answers, and interpreters that are broken, hang or have no torch."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.preflight.framework import FRAMEWORK
from hwtop.preflight.machine import Machine
from tests.preflight.machines import ask, h100, machine

STEP_S = 60.0
_IMPORT = {"torch": "2.9.0", "cuda": "12.8", "hip": None, "python": "3.12.1"}
_DEVICES = {"available": True, "why": None, "names": ["NVIDIA H100 80GB HBM3"] * 2, "bf16": True, "nccl": "2.27.5"}
_GOOD: dict[str, Any] = {
    "import": _IMPORT,
    "reduce": {"backend": "nccl", "ranks": 2},
    "devices": _DEVICES,
    "toolchain": {"compiler": "/usr/bin/g++", "headers": True, "triton": True},
    "matmul": {"tflops": [700.0, 690.0], "dtype": "bfloat16"},
    "copy": {"inside_gb_per_s": [2900.0, 2890.0], "from_host_gb_per_s": [55.0, 55.0]},
    "agree": {"difference": [1e-6, 1e-6], "has_gpu": True},
    "workers": {"workers": 4, "took_s": 1.0, "sharing": "file_descriptor"},
}
Made = Callable[..., Machine]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """A machine whose interpreter is a shell script; the child is ended with the test."""
    machines: list[Machine] = []

    def make(script: str, gpus: tuple[Gpu, ...] = (), step_s: float = STEP_S) -> Machine:
        python = tmp_path / "python3"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        machines.append(machine(gpus=gpus, options={"python": str(python), "step_s": step_s}))
        return machines[-1]

    yield make
    for each in machines:
        each.close()


def printing(**steps: Any) -> str:
    """A script that answers as the child does; a text is an error."""
    lines = [
        {"step": name, "error": values} if isinstance(values, str) else {"step": name, "values": values}
        for name, values in {**_GOOD, **steps}.items()
    ]
    return "cat <<'END'\n" + "\n".join(["some library prints", *map(json.dumps, lines)]) + "\nEND"


@pytest.mark.parametrize("check", [check.id for check in FRAMEWORK.checks])
def test_a_good_installation_passes(check: str, made: Made) -> None:
    found = ask(FRAMEWORK, check, made(printing(), (h100(0), h100(1))))
    assert found.status == "pass", found


@pytest.mark.parametrize(
    ("check", "steps", "status", "words"),
    [
        ("torch-import", {"import": "ImportError: libcudart.so.12: no such file"}, "fail", "libcudart.so.12"),
        ("torch-all-reduce", {"reduce": "RuntimeError: rank 1: Timed out"}, "fail", "rank 1: Timed out"),
        ("torch-driver", {"import": {**_IMPORT, "cuda": "99.0"}}, "skip", "not known"),
        (
            "torch-devices",
            {"import": {**_IMPORT, "cuda": None}, "devices": {**_DEVICES, "available": False}},
            "fail",
            "CPU only",
        ),
        ("torch-devices", {"devices": {**_DEVICES, "available": False, "why": "error 802"}}, "fail", "error 802"),
        (
            "torch-matmul",
            {"matmul": {"tflops": [700.0, 300.0], "dtype": "bfloat16"}},
            "warn",
            "GPU 1 is slow: 700 (71 % of",
        ),
        ("torch-matmul", {"matmul": {"tflops": [700.0, 600.0], "dtype": "bfloat16"}}, "warn", "slower than the others"),
        (
            "torch-copy",
            {"copy": {"inside_gb_per_s": [2900.0, 900.0], "from_host_gb_per_s": [55.0, 3.0]}},
            "warn",
            "GPU 1",
        ),
        ("torch-gradients", {"agree": {"difference": [1e-6, 0.3], "has_gpu": True}}, "fail", "GPU 1"),
        ("torch-gradients", {"agree": {"difference": [1e-6, None], "has_gpu": True}}, "fail", "GPU 1"),
        (
            "torch-compile",
            {"toolchain": {"compiler": None, "headers": False, "triton": False}},
            "warn",
            "a C++ compiler, Python.h",
        ),
        ("torch-workers", {"workers": "RuntimeError: unable to open shared memory"}, "fail", "shared memory"),
        ("torch-workers", {"workers": {"workers": 64, "took_s": 90.0}}, "warn", "64 loader workers"),
    ],
)
def test_one_thing_is_wrong(check: str, steps: dict[str, Any], status: str, words: str, made: Made) -> None:
    found = ask(FRAMEWORK, check, made(printing(**steps), (h100(0), h100(1))))
    assert (found.status, words in found.reason) == (status, True), found


def test_a_driver_that_is_too_old(made: Made) -> None:
    found = ask(FRAMEWORK, "torch-driver", made(printing(**{"import": {**_IMPORT, "cuda": "13.1"}}), (h100(0),)))
    assert found.status == "pass"
    assert "from 580.65.06 on" in found.reason


def test_a_broken_interpreter(made: Made) -> None:
    broken = made("echo 'Fatal Python error: init_fs_encoding' >&2; exit 1")
    found = ask(FRAMEWORK, "torch-import", broken)
    assert found.status == "fail"
    assert "exit code 1: Fatal Python error" in found.reason
    assert {ask(FRAMEWORK, check.id, broken).status for check in FRAMEWORK.checks} <= {"fail", "skip"}


def test_a_path_that_is_none() -> None:
    found = ask(FRAMEWORK, "torch-import", machine(options={"python": "/nonexistent/python"}))
    assert "/nonexistent/python: no such file or directory" in found.reason


def test_a_child_that_hangs_is_ended_with_what_it_started(made: Made, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    hung = made(f"exec 9>{tmp_path}/held; sleep 1000", step_s=0.5)
    found = ask(FRAMEWORK, "torch-import", hung)
    assert found.status == "fail"
    assert "has not returned within 0.5 s" in found.reason
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""  # no writer is left
    os.close(reader)


def test_without_torch_the_checks_are_skipped(made: Made) -> None:
    bare = made(printing(**{"import": "ModuleNotFoundError: No module named 'torch'"}))
    assert {ask(FRAMEWORK, check.id, bare).status for check in FRAMEWORK.checks} == {"skip"}
    assert "--python PATH" in ask(FRAMEWORK, "torch-import", bare).reason


def test_nothing_is_computed_beside_a_job(made: Made, tmp_path: Path) -> None:
    taken = (h100(0), h100(1, processes=(GpuProcess(pid=4242, mem_bytes=1 << 30),)))
    busy = made(f"echo $@ > {tmp_path}/arguments\n" + printing(), taken)
    found = {check.id: ask(FRAMEWORK, check.id, busy) for check in FRAMEWORK.checks}
    passing = {name for name, outcome in found.items() if outcome.status == "pass"}
    assert passing == {"torch-import", "torch-driver", "torch-compile"}
    assert found["torch-matmul"].reason == "GPU 1 in use: nothing is computed meanwhile"
    assert (tmp_path / "arguments").read_text().split()[2:] == ["import", "toolchain"]


@pytest.mark.real
def test_torch_on_the_cpu() -> None:
    torch = machine(options={"python": sys.executable})
    try:
        found = {check.id: ask(FRAMEWORK, check.id, torch) for check in FRAMEWORK.checks}
    finally:
        torch.close()
    statuses = {name: outcome.status for name, outcome in found.items()}
    assert statuses == {
        "torch-import": "pass",
        "torch-all-reduce": "pass",
        "torch-driver": "skip",
        "torch-devices": "skip",
        "torch-compile": "pass",
        "torch-matmul": "pass",
        "torch-copy": "skip",
        "torch-gradients": "skip",
        "torch-workers": "pass",
    }, found
    assert "over 2 ranks with gloo" in found["torch-all-reduce"].reason
