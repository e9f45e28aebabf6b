"""What hwtop can and cannot see here: `hwtop doctor`. What a source says of itself is reported in its own words."""

from __future__ import annotations

import os
from importlib.util import find_spec

from msgspec.structs import replace

from hwtop.collectors.child import Children
from hwtop.collectors.host.mounts import parse_mountinfo
from hwtop.collectors.kernel.source import INITIAL_PID_NAMESPACE
from hwtop.collectors.procfs import read_text
from hwtop.collectors.stacks.attach import Ladder
from hwtop.collectors.stacks.pyspy import find_pyspy
from hwtop.collectors.stacks.pyspy_errors import circumstance, explain, no_binary
from hwtop.preflight.check import Check, Family, Outcome, passed, skipped, warned
from hwtop.preflight.machine import Machine

_SYS_PTRACE = 1 << 19
"""Of the capability mask. Source: capabilities(7)."""
_DENIED = "Permission denied (os error 13)"
"""What py-spy prints where the kernel refuses."""
_SLURM_ANSWERS_S = 5.0
"""Its commands wait much longer for a controller that is down. Engineering default."""
_AS_ROOT = 'sudo "$(command -v hwtop)" PID'


def _stacks(machine: Machine) -> Outcome:
    spy = find_pyspy()
    if spy is None:
        lacking = no_binary()
        return warned(lacking.error, lacking.advice)
    if machine.is_job:
        found = Ladder(proc=machine.proc).look(machine.pid)
        if found.failure is None:
            return passed(f"Python stack of PID {machine.pid} read with {found.dump.via}")
        return warned(found.failure.error, found.failure.advice)
    case = circumstance(os.getpid(), spy, proc=machine.proc)
    if _may_ptrace(machine):
        return passed("Python stacks of all processes: CAP_SYS_PTRACE")
    if case.own_uid and not case.ptrace_scope:
        return passed("Python stacks of your own processes: kernel.yama.ptrace_scope is 0")
    refused = explain(_DENIED, replace(case, pid="PID"))
    return warned(f"no Python stacks: {refused.error.partition(': ')[2]}", refused.advice)


def _native_stacks(_: Machine) -> Outcome:
    if find_spec("pystack") is None:
        return warned("no native stacks of C++ threads: pystack is not installed", "pip install 'hwtop[pystack]'")
    return passed("native stacks, on request: pystack is installed")


def _other_users(machine: Machine) -> Outcome:
    mounts = parse_mountinfo(read_text(f"{machine.proc}/self/mountinfo"))
    hidden = {
        option
        for mount in mounts
        if mount.fs_type == "proc"
        for option in mount.super_options
        if option.startswith("hidepid=") and option not in ("hidepid=0", "hidepid=off")
    }
    if _may_ptrace(machine):
        return passed("processes of all users, with their files and environment")
    if hidden:
        remedy = f"{_AS_ROOT}, or for all: sudo mount -o remount,hidepid=0 /proc"
        return warned(f"no processes of other users: /proc is mounted with {hidden.pop()}", remedy)
    return warned("no files, environment and I/O of other users' processes: not root", _AS_ROOT)


def _processes(machine: Machine) -> Outcome:
    own = os.readlink(f"{machine.proc}/self/ns/pid")
    if own == INITIAL_PID_NAMESPACE:
        return passed("all processes of the machine: this is the host's PID namespace")
    remedy = "Run hwtop on the host, or start the container with --pid host (Kubernetes: hostPID: true)"
    return warned("only processes of this PID namespace; the GPU driver reports PIDs of the host", remedy)


def _network(machine: Machine) -> Outcome:
    if not machine.is_job:
        return skipped("no PID given: whose network namespace")
    own, its = (os.readlink(f"{machine.proc}/{pid}/ns/net") for pid in ("self", machine.pid))
    if own == its:
        return passed(f"interfaces of PID {machine.pid}: the same network namespace")
    remedy = f'sudo nsenter -t {machine.pid} -n "$(command -v hwtop)" {machine.pid}'
    return warned(f"not the interfaces of PID {machine.pid}: it is in another network namespace", remedy)


def _kernel_log(machine: Machine) -> Outcome:
    reason = machine.unavailable("kernel")
    if reason is None:
        return passed("the kernel log: OOM kills, Xid and I/O errors")
    why, _, remedy = reason.partition(": ")
    return warned(f"no kernel log: {why}", remedy or "Run hwtop as root")


def _gpus(machine: Machine) -> Outcome:
    hidden = [f"GPU {gpu.index}: {gpu.reason}" for gpu in machine.state.gpus if gpu.status != "ok"]
    reason = machine.unavailable("gpu")
    if hidden or (reason is not None and not reason.startswith("no ")):
        return warned("; ".join(hidden) or reason or "", "nvidia-smi -q; sudo dmesg | grep NVRM")
    count = len(machine.gpus)
    return passed(f"{count} GPU{'' if count == 1 else 's'}")


def _gpu_fields(machine: Machine) -> Outcome:
    """What a permission would show; what the hardware lacks is no fault."""
    refused = {
        field: reason for gpu in machine.gpus for field, reason in gpu.missing.items() if "permission" in reason.lower()
    }
    if refused:
        remedy = (
            "Run hwtop as root, or for all users: echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | "
            "sudo tee /etc/modprobe.d/nvidia-profiling.conf, then reboot"
        )
        return warned(f"permission denied: {', '.join(sorted(refused))}", remedy)
    return passed("all metrics that these GPUs report")


def _gpu_activity(machine: Machine) -> Outcome:
    gpus = [gpu for gpu in machine.gpus if gpu.vendor == "nvidia"]
    without = next((gpu for gpu in gpus if gpu.activity is None), None)
    if without is None:
        return passed("activity of SMs and tensor cores (GPM)") if gpus else skipped("no NVIDIA GPU")
    return skipped(f"GPM: GPU {without.index}: {without.missing.get('activity', 'not reported')}")


def _cgroup(machine: Machine) -> Outcome:
    cgroup = machine.given("cgroup", machine.snapshots[-1].cgroup)
    if cgroup.missing:
        return skipped("; ".join(dict.fromkeys(cgroup.missing.values())))
    return passed(f"limits of cgroup {cgroup.path} (version {cgroup.version})")


def _pressure(machine: Machine) -> Outcome:
    cpu = machine.given("cpu", machine.snapshots[-1].cpu)
    if cpu.psi:
        return passed("pressure stall information")
    reasons = dict.fromkeys(reason for field, reason in cpu.missing.items() if field.startswith("psi"))
    return warned(
        f"no pressure stall information: {'; '.join(reasons)}", "Add psi=1 to the kernel command line, then reboot"
    )


def _slurm(_: Machine) -> Outcome:
    try:
        ended = Children().run(("squeue", "--noheader", "--me", "--format=%i"), _SLURM_ANSWERS_S)
    except FileNotFoundError:
        return skipped("squeue is not installed: no Slurm here")
    if ended.status == 0:
        return passed("jobs of Slurm: slurm:JOBID works in place of a PID")
    why = next(reversed(ended.err.split("\n")[:-1]), "") or f"no answer within {_SLURM_ANSWERS_S:g} s"
    return warned(f"slurm:JOBID cannot be looked up: {why}", "scontrol ping   # whether the controller answers")


def _may_ptrace(machine: Machine) -> bool:
    for line in read_text(f"{machine.proc}/self/status").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) & _SYS_PTRACE)
    return False


VISIBILITY = Family(
    "What hwtop can see",
    (
        Check(id="see-stacks", about="Python stacks cannot be read: ptrace_scope, capabilities, py-spy", look=_stacks),
        Check(id="see-native-stacks", about="pystack is not installed", look=_native_stacks),
        Check(id="see-other-users", about="Processes of other users are hidden, wholly or in part", look=_other_users),
        Check(id="see-processes", about="hwtop runs in a PID namespace of a container", look=_processes),
        Check(id="see-network", about="The job is in another network namespace", look=_network),
        Check(id="see-kernel-log", about="The kernel log may not be read", look=_kernel_log),
        Check(id="see-gpus", about="A GPU, or NVML itself, does not answer", look=_gpus),
        Check(id="see-gpu-fields", about="The driver refuses metrics to this user", look=_gpu_fields),
        Check(id="see-gpu-activity", about="No GPM: utilization is all that is known of the SMs", look=_gpu_activity),
        Check(id="see-cgroup", about="The limits of the cgroup cannot be read", look=_cgroup),
        Check(id="see-pressure", about="The kernel has no pressure stall information", look=_pressure),
        Check(id="see-slurm", about="Slurm does not answer", look=_slurm),
    ),
)
