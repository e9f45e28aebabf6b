"""torch in the interpreter of the training: does it see the GPUs, and do they compute what and as fast as they should?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import tomli

from hwtop.preflight.check import Check, Family, Outcome, failed, passed, skipped, warned
from hwtop.preflight.machine import Machine, NotReadError
from hwtop.preflight.probe import QUIET_STEPS, STEP_S, Step

LEAST_SHARE = 0.5
"""Of what the data sheet says. A healthy GPU multiplies large matrices at 60 to 80 % of it, and copies at 80 to 90 %.
Engineering default."""
APART_SHARE = 0.9
"""Of the fastest GPU of the machine: all do the same work. Engineering default."""
MOST_DIFFERENCE = 1e-3
"""Relative, between float32 on the CPU and on a GPU: rounding gives 1e-6 to 1e-5. Engineering default."""
SLOW_START_S = 20.0
"""Until the first batch of each loader worker. Engineering default."""


def _import(machine: Machine) -> Outcome:
    found = machine.framework.step("import")
    if found.error is not None and "No module named 'torch'" in found.error:
        return skipped(
            f"torch is not installed for {machine.python}: name the interpreter of the training with --python PATH"
        )
    if found.error is not None:
        return failed(f"torch cannot be imported: {found.error}", f"{machine.python} -c 'import torch'")
    build = (found.values["cuda"] and f"CUDA {found.values['cuda']}") or (
        found.values["hip"] and f"ROCm {found.values['hip']}"
    )
    return passed(
        f"torch {found.values['torch']} ({build or 'CPU only'}), Python {found.values['python']}", compares=True
    )


def _driver(machine: Machine) -> Outcome:
    """A newer driver runs every older CUDA."""
    cuda = _values(machine, "import")["cuda"]
    gpu = machine.snapshots[-1].gpu
    driver = gpu.driver if gpu is not None else None
    if cuda is None or driver is None:
        return skipped("torch has no CUDA" if cuda is None else machine.unavailable("gpu") or "driver not reported")
    oldest = _table("drivers")["oldest"].get(cuda.split(".")[0])
    if oldest is None:
        return skipped(f"the oldest driver for CUDA {cuda} is not known")
    if _version(driver) < _version(oldest):
        return failed(
            f"driver {driver} is too old for CUDA {cuda} of torch: it needs {oldest}",
            "Update the driver, or install torch for an older CUDA",
        )
    return passed(f"driver {driver} runs CUDA {cuda} (from {oldest} on)", compares=True)


def _devices(machine: Machine) -> Outcome:
    found = _values(machine, "devices")
    nvidia = [gpu for gpu in machine.state.gpus if gpu.vendor == "nvidia" and gpu.status == "ok"]
    build = _values(machine, "import")
    if not found["available"]:
        if not nvidia:
            return skipped("no GPU, and torch sees none")
        if build["cuda"] is None:
            return failed(
                f"{len(nvidia)} GPUs, but this torch is built for the CPU only",
                "pip install torch --index-url https://download.pytorch.org/whl/cu126   # see pytorch.org",
            )
        return failed(
            f"torch.cuda.is_available() is False: {found['why'] or 'no reason given'}",
            "Compare nvidia-smi with CUDA_VISIBLE_DEVICES; sudo dmesg | grep NVRM",
        )
    names = found["names"]
    bf16 = "with" if found["bf16"] else "without"
    return passed(
        f"{len(names)} devices ({', '.join(sorted(set(names)))}), {bf16} bfloat16, NCCL {found['nccl'] or 'not reported'}",
        compares=True,
    )


def _reduce(machine: Machine) -> Outcome:
    found = _step(machine, "reduce")
    if found.error is not None:
        return failed(
            f"all_reduce on this machine: {found.error}",
            "NCCL_DEBUG=INFO; check NCCL_SOCKET_IFNAME, /dev/shm and peer-to-peer (nvidia-smi topo -p2p r)",
        )
    return passed(f"all_reduce over {found.values['ranks']} ranks with {found.values['backend']}")


def _matmul(machine: Machine) -> Outcome:
    found = _values(machine, "matmul")
    return _speed(machine, found["tflops"], "tflops", f"TFLOPS in {found['dtype']}")


def _copy(machine: Machine) -> Outcome:
    found = _values(machine, "copy")
    if not found["inside_gb_per_s"]:
        return skipped("no GPU")
    outcome = _speed(machine, found["inside_gb_per_s"], "gb_per_s", "GB/s of device memory")
    from_host = ", ".join(f"{speed:.0f}" for speed in found["from_host_gb_per_s"])
    return Outcome(outcome.status, f"{outcome.reason}; from the host: {from_host} GB/s", outcome.remedy)


def _speed(machine: Machine, speeds: list[float], limit: str, unit: str) -> Outcome:
    """Against the data sheet, and against the other GPUs."""
    names = _values(machine, "devices")["names"]
    shares = [
        speed / chip[limit] if (chip := _chip(name)) else None for name, speed in zip(names, speeds, strict=False)
    ]
    words = ", ".join(
        f"{speed:.3g}" + (f" ({share:.0%} of the data sheet)" if share is not None else "")
        for speed, share in zip(speeds, shares or [None] * len(speeds), strict=False)
    ).replace("%", " %")
    words = f"{words} {unit}"
    slow = [index for index, share in enumerate(shares) if share is not None and share < LEAST_SHARE]
    behind = [index for index, speed in enumerate(speeds) if speed < APART_SHARE * max(speeds)]
    if slow:
        return warned(
            f"GPU {slow[0]} is slow: {words}",
            f"nvidia-smi -q -i {slow[0]} -d PERFORMANCE,CLOCK,POWER; is another job on it?",
        )
    if behind and len(set(names)) == 1:
        return warned(
            f"GPU {behind[0]} is slower than the others: {words}",
            f"nvidia-smi -q -i {behind[0]} -d PERFORMANCE,CLOCK,POWER",
        )
    return passed(words)


def _agree(machine: Machine) -> Outcome:
    found = _values(machine, "agree")
    if not found["has_gpu"]:
        return skipped("no GPU to compare with the CPU")
    for index, difference in enumerate(found["difference"]):
        if difference is None or difference > MOST_DIFFERENCE:
            much = "are not numbers" if difference is None else f"differ from those of the CPU by {difference:.2g}"
            return failed(
                f"GPU {index}: gradients {much}",
                f"Take GPU {index} out of the job and test it: dcgmi diag -r 3 -i {index}",
            )
    return passed(f"loss and gradients agree with those of the CPU within {max(found['difference']):.1g}")


def _toolchain(machine: Machine) -> Outcome:
    found = _values(machine, "toolchain")
    lacking = [
        name
        for name, is_there in (
            ("a C++ compiler", found["compiler"]),
            ("Python.h (python3-dev)", found["headers"]),
            ("triton", found["triton"] or not machine.state.gpus),
        )
        if not is_there
    ]
    if lacking:
        return warned(
            f"torch.compile lacks {', '.join(lacking)}", "sudo apt install g++ python3-dev; pip install triton"
        )
    return passed(f"torch.compile: {found['compiler']}, Python.h{', triton' if found['triton'] else ''}")


def _workers(machine: Machine) -> Outcome:
    found = _step(machine, "workers")
    if found.error is not None:
        return failed(
            f"loader workers do not start: {found.error}", "df -h /dev/shm; ulimit -n -u; then num_workers=0 to compare"
        )
    took_s, count = found.values["took_s"], found.values["workers"]
    words = f"{count} loader workers delivered within {took_s:.1f} s"
    if took_s > SLOW_START_S:
        return warned(words, "Use fewer workers, or persistent_workers=True so that they start once")
    return passed(words)


def _values(machine: Machine, name: str) -> Mapping[str, Any]:
    """What a step gave.

    Raises:
        NotReadError: torch is not there, the step is not run, or it failed.
    """
    found = _step(machine, name)
    if found.error is not None:
        raise NotReadError(found.error)
    return found.values


def _step(machine: Machine, name: str) -> Step:
    """The answer to a step, whatever it is.

    Raises:
        NotReadError: torch is not there, or the step would disturb what runs.
    """
    loaded = machine.framework.step("import")
    if loaded.error is not None:
        raise NotReadError(loaded.error)
    if name not in QUIET_STEPS and machine.in_use is not None:
        raise NotReadError(machine.in_use)
    return machine.framework.step(name)


def _chip(name: str) -> dict[str, Any] | None:
    chips: list[dict[str, Any]] = _table("chips")["chip"]
    return next((chip for chip in chips if chip["name"] in name.lower()), None)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


@cache
def _table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = tomli.loads(
        resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    )
    return table


def _check(id: str, about: str, look: Any) -> Check:  # noqa: A002
    return Check(id=id, about=about, look=look, is_slow=True, deadline_s=2 * STEP_S)


FRAMEWORK = Family(
    "Framework",
    (
        _check("torch-import", "torch cannot be imported by the interpreter of the training", _import),
        _check("torch-all-reduce", "A small all_reduce over the local GPUs (gloo on the CPU) fails or hangs", _reduce),
        _check("torch-driver", "The driver is too old for the CUDA of torch", _driver),
        _check("torch-devices", "torch does not see the GPUs", _devices),
        _check("torch-compile", "torch.compile lacks a compiler, headers or triton", _toolchain),
        _check("torch-matmul", "A GPU multiplies slower than its data sheet or its peers", _matmul),
        _check("torch-copy", "A GPU copies slower than its data sheet or its peers", _copy),
        _check("torch-gradients", "A GPU computes other gradients than the CPU", _agree),
        _check("torch-workers", "The loader workers of the script start slowly, or not at all", _workers),
    ),
)
