"""The GPUs and their driver: are they all there, are they healthy, are they free?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from hwtop.collectors.gpu.pci import NVIDIA, graphics_devices
from hwtop.job.gpu_visible import visible_gpus
from hwtop.job.kernel.event import PATH
from hwtop.job.launch.environment import slurm_job_of
from hwtop.job.patterns.kernel import kernel_registry
from hwtop.job.patterns.match import Matcher
from hwtop.job.whole_number import whole_number
from hwtop.model.gpu.device import Gpu
from hwtop.model.reported.log import LogLine
from hwtop.preflight.check import Check, Family, Outcome, failed, passed, skipped, warned
from hwtop.preflight.machine import Machine
from hwtop.preflight.symptoms import absent
from hwtop.symptoms.gpu.driver import MISMATCH
from hwtop.symptoms.gpu.words import named_gpus

HOT_C = 20.0
"""An idle GPU that is so much hotter than the median of its peers has a cooling problem. Engineering default."""
_HELD_DOWN = frozenset({"hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal"})
"""Throttle reasons that a healthy GPU never has."""
_DRIVER_LOG = "sudo dmesg -T | grep -E 'NVRM|Xid'"
_SHOWN_PIDS = 8


def _count(machine: Machine) -> Outcome:
    silent = [gpu for gpu in machine.state.gpus if gpu.status != "ok"]
    if silent:
        return failed("; ".join(f"GPU {gpu.index}: {gpu.reason}" for gpu in silent), _DRIVER_LOG)
    reason = machine.unavailable("gpu")
    if reason is not None and not reason.startswith("no "):
        return failed(reason, _DRIVER_LOG)
    count = len(machine.gpus)
    for source, expected in _expected(machine):
        if count < expected:
            return failed(
                f"{count} GPUs answer, {source} promises {expected}",
                f"nvidia-smi -L; {_DRIVER_LOG}",
            )
    models = Counter(gpu.name for gpu in machine.gpus)
    return passed(", ".join(f"{number} x {name}" for name, number in models.items()), compares=True)


def _expected(machine: Machine) -> Iterator[tuple[str, int]]:
    """Who says how many there should be. A container, and Slurm where it hides devices, leave PCI as it is."""
    granted = whole_number(machine.env.get("SLURM_GPUS_ON_NODE"))
    if granted is not None:
        yield "SLURM_GPUS_ON_NODE", granted
    devices = machine.env.get("NVIDIA_VISIBLE_DEVICES", "")
    if devices not in ("", "all", "void", "none"):
        yield "NVIDIA_VISIBLE_DEVICES", len(devices.split(","))
    elif not devices and slurm_job_of(machine.env) is None:
        yield "PCI", len(graphics_devices(NVIDIA, machine.sys))


def _visible(machine: Machine) -> Outcome:
    gpus = machine.gpus
    if all(gpu.vendor != "nvidia" for gpu in gpus):
        return skipped("no NVIDIA GPU")
    given = machine.env.get("CUDA_VISIBLE_DEVICES")
    seen = visible_gpus("nvidia", machine.env, gpus)
    if seen.reason is not None:
        return skipped(seen.reason)
    if None in seen.indexes:
        return failed(
            f"CUDA_VISIBLE_DEVICES={given}: CUDA ignores an entry without a GPU and all that follow it",
            "nvidia-smi -L   # the numbers that exist",
        )
    if not seen.indexes:
        return failed(f"CUDA_VISIBLE_DEVICES={given} hides all GPUs", "unset CUDA_VISIBLE_DEVICES")
    return passed(f"{named_gpus(index for index in seen.indexes if index is not None)} visible to CUDA")


def _xids(machine: Machine) -> Outcome:
    lines = [LogLine(path=PATH, line_no=None, text=line.text, at_s=line.at_s) for line in machine.kernel_lines]
    registry = kernel_registry()
    codes = Counter(event.xid for event in Matcher(registry, repeat_limit=None).match(lines) if event.xid is not None)
    known = {code: registry.xids[code] for code in sorted(codes) if code in registry.xids}
    grave = {code: xid for code, xid in known.items() if xid.blame != "application" and xid.severity != "info"}
    if not grave:
        return passed(
            f"{codes.total()} Xid in the kernel log, none of hardware or driver"
            if codes
            else "no Xid in the kernel log"
        )
    words = "; ".join(f"Xid {code} ({xid.meaning}): {codes[code]} times" for code, xid in grave.items())
    critical = next((xid for xid in grave.values() if xid.severity == "critical"), None)
    return warned(words, next(iter(grave.values())).action) if critical is None else failed(words, critical.action)


def _ecc_mode(machine: Machine) -> Outcome:
    gpus = [gpu for gpu in machine.gpus if gpu.ecc is not None and gpu.ecc.is_enabled is not None]
    off = [gpu.index for gpu in gpus if gpu.ecc is not None and not gpu.ecc.is_enabled]
    if not gpus:
        return skipped("no GPU reports its ECC mode")
    if off:
        return warned(
            f"ECC is off on {named_gpus(off)}: memory errors go unnoticed", "sudo nvidia-smi -e 1, then reboot"
        )
    return passed(f"ECC is on on {named_gpus(gpu.index for gpu in gpus)}", compares=True)


def _power(machine: Machine) -> Outcome:
    for gpu in machine.gpus:
        now, full = gpu.power_limit_w, gpu.power_limit_default_w
        highest = max((peer.power_limit_w or 0.0 for peer in machine.gpus if peer.name == gpu.name), default=0.0)
        if now is not None and now < max(full or 0.0, highest):
            words = f"GPU {gpu.index}: power limit {now:.0f} W instead of {max(full or 0.0, highest):.0f} W"
            return warned(words, f"sudo nvidia-smi -i {gpu.index} -pl {max(full or 0.0, highest):.0f}")
    limits = sorted({f"{gpu.power_limit_w:.0f} W" for gpu in machine.gpus if gpu.power_limit_w is not None})
    return (
        passed(f"power limits: {', '.join(limits)}", compares=True) if limits else skipped("power limit not reported")
    )


def _clocks(machine: Machine) -> Outcome:
    held = {gpu.index: _HELD_DOWN.intersection(gpu.throttle or ()) for gpu in machine.gpus}
    for index, reasons in held.items():
        if reasons:
            return warned(
                f"GPU {index} is throttled: {', '.join(sorted(reasons))}",
                f"nvidia-smi -q -i {index} -d PERFORMANCE,TEMPERATURE,POWER",
            )
    for gpu in machine.gpus:
        best = max(peer.sm_clock_max_mhz or 0.0 for peer in machine.gpus if peer.name == gpu.name)
        if gpu.sm_clock_max_mhz is not None and gpu.sm_clock_max_mhz < best:
            words = f"GPU {gpu.index}: highest SM clock {gpu.sm_clock_max_mhz:.0f} MHz, its peers have {best:.0f} MHz"
            return warned(words, f"sudo nvidia-smi -i {gpu.index} -rgc   # reset a clock lock")
    return passed("highest SM clocks are the same, nothing throttles")


def _persistence(machine: Machine) -> Outcome:
    known = [gpu for gpu in machine.gpus if gpu.persistence_mode is not None]
    off = [gpu.index for gpu in known if not gpu.persistence_mode]
    if off:
        return warned(
            f"persistence mode is off on {named_gpus(off)}: the first CUDA call of each run takes seconds",
            "sudo nvidia-smi -pm 1",
        )
    return passed("persistence mode is on", compares=True) if known else skipped("persistence mode not reported")


def _mode(machine: Machine) -> Outcome:
    """MIG and compute mode: what may be started on a GPU at all."""
    closed = [gpu for gpu in machine.gpus if gpu.compute_mode not in (None, "default")]
    if closed:
        gpu = closed[0]
        status = failed if gpu.compute_mode == "prohibited" else warned
        return status(f"GPU {gpu.index}: compute mode {gpu.compute_mode}", f"sudo nvidia-smi -i {gpu.index} -c DEFAULT")
    split = [gpu for gpu in machine.gpus if gpu.mig_mode]
    empty = [gpu.index for gpu in split if not gpu.mig]
    if empty:
        return failed(
            f"MIG is on without instances: {named_gpus(empty)} cannot run CUDA",
            "sudo nvidia-smi mig -cgi 0 -C, or: sudo nvidia-smi -mig 0",
        )
    if split:
        words = f"MIG is on on {named_gpus(gpu.index for gpu in split)}: NCCL and peer-to-peer copies do not work between instances"
        return warned(words, "sudo nvidia-smi -mig 0   # for training on whole GPUs")
    return passed("compute mode default, MIG off", compares=True)


def _free(machine: Machine) -> Outcome:
    if machine.is_job:
        return skipped("the job runs and uses its GPUs")
    known = named_gpus(gpu.index for gpu in machine.gpus)
    if not machine.taken:
        return passed(f"no process computes on {known}")
    pids = [str(entry.pid) for others in machine.taken.values() for entry in others][:_SHOWN_PIDS]
    if not pids:
        return warned(
            f"{named_gpus(machine.taken)}: memory in use, processes not reported", "nvidia-smi   # on the host"
        )
    return warned(
        f"{named_gpus(machine.taken)} in use by PID {', '.join(pids)}", f"ps -o pid,user,etime,args -p {','.join(pids)}"
    )


def _heat(machine: Machine) -> Outcome:
    idle = [gpu for gpu in machine.gpus if gpu.temp_c is not None and not gpu.util_pct and not gpu.processes]
    if not idle:
        return skipped("no idle GPU that reports its temperature")
    for gpu in idle:
        peers = [peer.temp_c or 0.0 for peer in idle if peer.name == gpu.name]
        if len(peers) > 1 and (gpu.temp_c or 0.0) >= median(peers) + HOT_C:
            words = f"GPU {gpu.index} is idle at {gpu.temp_c:.0f} °C, its peers are at {median(peers):.0f} °C"
            return warned(
                words,
                f"Check fans, airflow and coolant of GPU {gpu.index}; nvidia-smi -q -i {gpu.index} -d TEMPERATURE",
            )
    return passed(f"idle at {min(_temps(idle)):.0f} to {max(_temps(idle)):.0f} °C")


def _temps(gpus: list[Gpu]) -> list[float]:
    return [gpu.temp_c for gpu in gpus if gpu.temp_c is not None]


def _driver(machine: Machine) -> object:
    """A mismatch keeps all GPUs from answering; any other reason for that is none."""
    reasons = (machine.unavailable("gpu"), *(gpu.reason for gpu in machine.state.gpus))
    return any(MISMATCH.search(reason or "") for reason in reasons) or machine.gpus


def _any(machine: Machine) -> object:
    return machine.gpus


GPUS = Family(
    "GPUs and driver",
    (
        Check(
            id="gpu-driver",
            about="The driver and its library differ in version",
            look=absent("driver-mismatch", _driver, "driver and library have the same version"),
        ),
        Check(id="gpu-count", about="Fewer GPUs answer than Slurm, the container or PCI promise", look=_count),
        Check(
            id="gpu-visible", about="CUDA_VISIBLE_DEVICES hides GPUs, or names some that do not exist", look=_visible
        ),
        Check(
            id="gpu-memory-errors",
            about="Uncorrected memory errors, or very many corrected ones",
            look=absent("ecc-error", _any, "no uncorrected memory errors"),
        ),
        Check(
            id="gpu-row-remapping",
            about="Row remapping failed or pending, retired pages, or a reset that the driver asks for",
            look=absent("row-remap-pending", _any, "no row remapping or reset is pending"),
        ),
        Check(id="gpu-ecc-mode", about="ECC is off", look=_ecc_mode),
        Check(id="gpu-xid", about="The kernel log has Xid errors that no program caused", look=_xids),
        Check(id="gpu-power-limit", about="A power limit below the default or that of its peers", look=_power),
        Check(
            id="gpu-clocks",
            about="A GPU is throttled by heat or by its power supply, or its clocks are locked below those of its peers",
            look=_clocks,
        ),
        Check(id="gpu-persistence", about="Persistence mode is off", look=_persistence),
        Check(id="gpu-mode", about="MIG is on, or the compute mode is not the default", look=_mode),
        Check(id="gpu-free", about="Another process uses a GPU", look=_free),
        Check(
            id="gpu-zombie-memory",
            about="Memory of a GPU is held by a process that has ended",
            look=absent("zombie-gpu-memory", _any, "no memory is held by processes that have ended"),
        ),
        Check(id="gpu-idle-temperature", about="An idle GPU is much hotter than its peers", look=_heat),
    ),
)
