"""The machine around the GPUs: memory, limits, processor, clock."""

from __future__ import annotations

import ctypes
import glob
import os

from hwtop.collectors.procfs import read_text
from hwtop.job.whole_number import whole_number
from hwtop.preflight.check import Check, Family, Outcome, failed, passed, skipped, warned
from hwtop.preflight.machine import Machine, NotReadError
from hwtop.preflight.symptoms import absent

LEAST_SHM_GIB = 1.0
"""Loader workers pass batches through /dev/shm, and a container has 64 MiB by default. Source: PyTorch README, "Docker
Image" (--ipc=host or --shm-size), and docs.docker.com, `docker run --shm-size`."""
LEAST_FILES = 4096
"""Open files a process: a loader worker takes a descriptor for each tensor that it passes, and 1024 is the default of
most systems. Engineering default."""
SWAPPED_SHARE = 0.5
"""Of the swap space in use before the run. Engineering default."""
RESERVED_SHARE = 0.1
"""Of the memory in huge pages that nobody uses. Engineering default."""
_OWN_GOVERNORS = frozenset({"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"})
"""Drivers whose "powersave" is the usual one, which raises the frequency with the load (Documentation/admin-guide/pm)."""
_UNSYNCHRONISED = 5
"""TIME_ERROR. Source: adjtimex(2)."""


def _swap(machine: Machine) -> Outcome:
    memory = machine.given("memory", machine.state.memory)
    used, total = memory.swap_used_bytes, memory.swap_total_bytes
    if total and used > SWAPPED_SHARE * total:
        words = f"{used / 2**30:.1f} of {total / 2**30:.1f} GiB of the swap space is in use"
        return warned(words, "free -h; grep -H VmSwap /proc/[0-9]*/status | sort -k2 -n | tail   # who is swapped out")
    return passed(
        f"{used / 2**30:.1f} of {total / 2**30:.1f} GiB of the swap space in use" if total else "no swap space"
    )


def _memory_limit(machine: Machine) -> Outcome:
    """The cgroup's limit, which is what a run in Slurm or in a container has."""
    memory, cgroup = machine.given("memory", machine.state.memory), machine.state.cgroup
    limit = cgroup.mem_limit_bytes if cgroup is not None else None
    total = min(memory.total_bytes, limit) if limit is not None else memory.total_bytes
    device = max((gpu.mem_total_bytes or 0 for gpu in machine.state.gpus), default=0)
    whose = "limit of the cgroup" if limit is not None and limit < memory.total_bytes else "memory of the machine"
    words = f"{total / 2**30:.0f} GiB: {whose}"
    if device > total:
        words += f"; less than the {device / 2**30:.0f} GiB of one GPU"
        return warned(words, "Ask for more memory (Slurm: --mem=0): what fills a GPU passes through host memory")
    return passed(words)


def _shm(machine: Machine) -> Outcome:
    shm = next((mount for mount in machine.state.mounts if mount.mount_point == "/dev/shm"), None)
    if shm is None or shm.total_bytes is None or shm.available_bytes is None:
        raise NotReadError(shm.reason or "not reported" if shm is not None else "no /dev/shm")
    words = f"/dev/shm: {shm.available_bytes / 2**30:.2f} of {shm.total_bytes / 2**30:.2f} GiB free"
    if shm.available_bytes < LEAST_SHM_GIB * 2**30:
        remedy = "Start the container with --ipc=host or --shm-size=16g (Kubernetes: an emptyDir of medium Memory at /dev/shm)"
        return warned(f"{words}: loader workers end with a bus error when it is full", f"{remedy}; ls -l /dev/shm")
    return passed(words)


def _open_files(machine: Machine) -> Outcome:
    limit = machine.detail.limits.get("Max open files")
    number = whole_number((limit or "").split(" ")[0])
    if limit is None:
        raise NotReadError(machine.detail.missing.get("limits", "limits not reported"))
    if number is not None and number < LEAST_FILES:
        return warned(
            f"at most {number} open files a process", "ulimit -n 65536, or LimitNOFILE in the unit of the launcher"
        )
    return passed(f"open files: {limit}", compares=True)


def _locked_memory(machine: Machine) -> Outcome:
    """RDMA registers memory, which locks it."""
    network = machine.given("network", machine.snapshots[-1].network)
    limit = machine.detail.limits.get("Max locked memory")
    if limit is None:
        raise NotReadError(machine.detail.missing.get("limits", "limits not reported"))
    if not network.ib_ports:
        return skipped(f"locked memory: {limit}; no RDMA port needs more")
    if limit != "unlimited":
        return (failed if machine.has_several_nodes else warned)(
            f"locked memory is limited to {limit}: NCCL cannot register memory with the RDMA ports",
            "ulimit -l unlimited (Slurm: PropagateResourceLimitsExcept=MEMLOCK; Docker: --ulimit memlock=-1)",
        )
    return passed("locked memory: unlimited")


def _cores(machine: Machine) -> Outcome:
    """Affinity and quota together: a quota below the affinity throttles."""
    online = len(machine.given("cpu", machine.snapshots[-1].cpu).cores)
    allowed = len(machine.cores)
    quota = machine.state.cgroup.cpu_quota_cores if machine.state.cgroup is not None else None
    words = f"{allowed} of {online} cores"
    if quota is not None and quota < allowed:
        remedy = "Ask for as many CPUs as the run has threads and workers (Docker: --cpus, Kubernetes: limits.cpu)"
        return warned(
            f"{words}; the cgroup has a quota of {quota:g} cores, threads made for more are throttled", remedy
        )
    tasks = whole_number(machine.env.get("SLURM_NTASKS_PER_NODE", "").split("(")[0]) or 1
    gpus = len(machine.state.gpus)
    if gpus > allowed * tasks and not machine.is_job:
        return warned(
            f"{words}; fewer than one for each of {gpus} GPUs",
            "Ask Slurm for more: --cpus-per-gpu=8, or check taskset and numactl",
        )
    return passed(words, compares=True)


def _governor(machine: Machine) -> Outcome:
    folders = glob.glob(f"{machine.sys}/devices/system/cpu/cpu[0-9]*/cpufreq")
    if not folders:
        return skipped("no frequency scaling here")
    slow = [
        folder
        for folder in folders
        if read_text(f"{folder}/scaling_governor").strip() == "powersave"
        and read_text(f"{folder}/scaling_driver").strip() not in _OWN_GOVERNORS
    ]
    if slow:
        return warned(
            f"governor powersave on {len(slow)} of {len(folders)} cores: they stay at the lowest frequency",
            "sudo cpupower frequency-set -g performance",
        )
    return passed(f"governor {read_text(f'{folders[0]}/scaling_governor').strip()}", compares=True)


def _huge_pages(machine: Machine) -> Outcome:
    fields = {}
    for line in read_text(f"{machine.proc}/meminfo").splitlines():
        name, _, value = line.partition(":")
        fields[name] = whole_number(value.split()[0]) if value.split() else None
    unused = (fields.get("HugePages_Free") or 0) * (fields.get("Hugepagesize") or 0)
    if unused > RESERVED_SHARE * (fields.get("MemTotal") or 0) > 0:
        return warned(
            f"{unused / 2**20:.1f} GiB are reserved for huge pages that nobody uses", "sudo sysctl vm.nr_hugepages=0"
        )
    return passed(f"{unused / 2**20:.1f} GiB reserved for unused huge pages")


def _clock(machine: Machine) -> Outcome:
    """adjtimex(2) with no mode only reads; its struct takes 208 bytes. A single node has nothing to be compared with."""
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(256))
    except AttributeError:
        return skipped("the kernel's clock state is not readable on this operating system")
    if state == _UNSYNCHRONISED and not machine.has_several_nodes:
        return passed("the clock is not synchronised, which matters only with several nodes")
    if state == _UNSYNCHRONISED:
        return warned(
            "the clock is not synchronised: times of nodes cannot be compared",
            "timedatectl set-ntp true; chronyc tracking",
        )
    return passed("the clock is synchronised") if state >= 0 else skipped(os.strerror(ctypes.get_errno()))


HOST = Family(
    "Memory, limits and processor",
    (
        Check(
            id="memory-free",
            about="Hardly any memory is left to the machine or to the cgroup",
            look=absent(
                "memory-nearly-full", lambda machine: machine.given("memory", machine.state.memory), "memory is free"
            ),
        ),
        Check(id="memory-limit", about="Less memory than one GPU has", look=_memory_limit),
        Check(id="swap", about="Much of the swap space is in use before the run", look=_swap),
        Check(id="shared-memory", about="/dev/shm is small or full", look=_shm),
        Check(id="open-files", about="A low limit on open files", look=_open_files),
        Check(id="locked-memory", about="A limit on locked memory where there are RDMA ports", look=_locked_memory),
        Check(
            id="process-limit",
            about="Nearly as many processes and threads as are allowed",
            look=absent(
                "process-limit",
                lambda machine: machine.given("cgroup", machine.state.cgroup),
                "processes and threads can be started",
            ),
        ),
        Check(
            id="cores", about="A CPU quota below the cores that the run may use, or fewer cores than GPUs", look=_cores
        ),
        Check(id="cpu-governor", about="The governor keeps the processor at its lowest frequency", look=_governor),
        Check(id="huge-pages", about="Memory is reserved for huge pages that nobody uses", look=_huge_pages),
        Check(id="clock", about="The clock of one of several nodes is not synchronised", look=_clock),
    ),
)
