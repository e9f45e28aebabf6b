"""Moments made by hand: what a rule sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.host.cpu import CpuRates, Pressure, PressureLine
from hwtop.model.host.memory import MemoryRates
from hwtop.model.job import Job, StackGroup
from hwtop.model.member import JobProcess
from hwtop.model.rank import Rank, Worker
from hwtop.model.rank_stack import HotSpot, Phase, PhaseShare
from hwtop.model.reported.log import LogEvent, Progress, Role
from hwtop.model.stack import StackFrame
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Observation
from hwtop.symptoms.rules import RULES
from tests.parts import job_of, rank_of, replace

GIB = 1 << 30
TRAIN = StackFrame(name="train_step", filename="/home/me/train.py", short_filename="train.py", line=231)
ALL_REDUCE = StackFrame(name="all_reduce", filename="/t/d.py", short_filename="torch/distributed/d.py", line=0)
SAVE = StackFrame(name="save_checkpoint", filename="/home/me/train.py", short_filename="train.py", line=88)
BARRIER = StackFrame(name="barrier", filename="/t/d.py", short_filename="torch/distributed/d.py", line=0)


def rank(number: int = 0, **fields: Any) -> Rank:
    """A healthy rank in training, unless told otherwise."""
    known: dict[str, Any] = {
        "rank": number,
        "pid": 1000 + number,
        "local_rank": number,
        "is_alive": True,
        "os_state": "R",
        "cpu_pct": 95.0,
        "main_thread_cpu_pct": 90.0,
        "progress": Progress(step=100, loss=2.0),
        "step_time_s": 0.2,
        "log_age_s": 0.3,
        "step_age_s": 0.3,
        "log_interval_s": 0.2,
        "phase": "forward",
        "is_waiting": False,
        "wait_share": 0.1,
        "samples": 20,
        "wait_samples": 20,
        "same_stack_for_s": 0.0,
        "idle_for_s": 0.0,
        "state": "training",
        "phase_shares": shares(forward=0.6, backward=0.3, collective=0.1),
    }
    return rank_of(**(known | fields))


def still(number: int = 0, seconds: float = 20.0, **fields: Any) -> Rank:
    """A rank that has not moved for some time, waiting in a collective."""
    known: dict[str, Any] = {
        "os_state": "S",
        "cpu_pct": 0.0,
        "phase": "collective",
        "is_waiting": True,
        "wait_share": 1.0,
        "same_stack_for_s": seconds,
        "idle_for_s": seconds,
        "log_age_s": seconds,
        "step_age_s": seconds,
        "state": "stuck",
    }
    return rank(number, **(known | fields))


def shares(**phases: float) -> tuple[PhaseShare, ...]:
    """Largest first; `data_main` stands for "data-main"."""
    found = [PhaseShare(phase=_phase(name), share=share) for name, share in phases.items()]
    return tuple(sorted(found, key=lambda entry: -entry.share))


def _phase(name: str) -> Phase:
    phase: Phase = name.replace("_", "-")  # type: ignore[assignment]
    return phase


def worker(pid: int = 2000, **fields: Any) -> Worker:
    known: dict[str, Any] = {
        "pid": pid,
        "state": "R",
        "cpu_pct": 98.0,
        "rss_bytes": 10**8,
        "wchan": None,
        "read_bytes_per_s": 0.0,
    }
    return Worker(**(known | fields))


def spot(function: str = "decode", share: float = 0.9) -> HotSpot:
    return HotSpot(function=function, file="/home/me/data.py", line=33, share=share, samples=18)


def stack_group(
    ranks: Sequence[int], *frames: StackFrame, phase: Phase = "collective", leaf: StackFrame | None = None
) -> StackGroup:
    """Root first."""
    user = next((frame for frame in reversed(frames) if frame.short_filename == "train.py"), None)
    return StackGroup(ranks=tuple(ranks), frames=frames, phase=phase, user_frame=user, leaf=leaf or frames[-1])


def event(pattern: str, role: Role = "root", **fields: Any) -> LogEvent:
    known: dict[str, Any] = {
        "severity": "critical",
        "path": "/logs/rank_0.log",
        "line_no": 12,
        "text": f"a line about {pattern}",
        "at_s": 5.0,
        "is_past": False,
        "explanation": "why it matters",
        "source": "a program",
    }
    return LogEvent(pattern=pattern, role=role, **(known | fields))


def job(*ranks: Rank, **fields: Any) -> Job:
    known: dict[str, Any] = {
        "target_pid": 999,
        "launcher": None,
        "world_size": len(ranks),
        "processes": (),
    }
    return job_of(ranks=ranks, **(known | fields))


def gpu(index: int = 0, **fields: Any) -> Gpu:
    """A healthy H100 SXM in the middle of training, unless told otherwise."""
    known: dict[str, Any] = {
        "index": index,
        "vendor": "nvidia",
        "name": "NVIDIA H100 80GB HBM3",
        "uuid": f"GPU-{index:08x}-0000-0000-0000-000000000000",
        "pci_bus_id": f"00000000:{0x10 + index:02x}:00.0",
        "status": "ok",
        "util_pct": 98.0,
        "mem_util_pct": 55.0,
        "mem_used_bytes": 60 * GIB,
        "mem_total_bytes": 80 * GIB,
        "power_w": 640.0,
        "power_limit_w": 700.0,
        "power_limit_default_w": 700.0,
        "power_limit_max_w": 700.0,
        "temp_c": 62.0,
        "temp_slowdown_c": 87.0,
        "sm_clock_mhz": 1740.0,
        "sm_clock_max_mhz": 1980.0,
        "mem_clock_mhz": 2619.0,
        "mem_clock_max_mhz": 2619.0,
        "pstate": 0,
        "throttle": (),
        "pcie_gen": 5,
        "pcie_gen_max": 5,
        "pcie_width": 16,
        "pcie_width_max": 16,
        "pcie_tx_bytes_per_s": 2e8,
        "pcie_rx_bytes_per_s": 3e8,
        "numa_node": index // 4,
    }
    return Gpu(**(known | fields))


def row(pid: int = 1000, **fields: Any) -> JobProcess:
    """A process of the job's table: rank 0, unless told otherwise."""
    known: dict[str, Any] = {
        "pid": pid,
        "ppid": 999,
        "depth": 1,
        "role": "rank",
        "rank": 0,
        "state": "R",
        "cpu_pct": None,
        "rss_bytes": None,
        "thread_count": 1,
        "read_bytes_per_s": None,
        "written_bytes_per_s": None,
        "fd_count": None,
        "wchan": None,
        "threads": {},
        "thread_states": {},
        "command": "python",
    }
    return JobProcess(**(known | fields))


def derived(at_s: float, watched: Job | None, **fields: Any) -> DerivedState:
    known: dict[str, Any] = {
        "time_s": 1e9 + at_s,
        "host": "box",
        "interval_s": 1.0,
        "cores": 8.0,
        "cpu": cpu(),
        "memory": memory(),
    }
    return DerivedState(at_s=at_s, job=watched, **(known | fields))


def cpu(util_pct: float = 40.0, pressure_pct: float | None = 1.0, **fields: Any) -> CpuRates:
    """A CPU that does some work; any of its fields can be given."""
    psi = {}
    if pressure_pct is not None:
        line = PressureLine(avg10_pct=pressure_pct, avg60_pct=0.0, avg300_pct=0.0, total_us=0)
        psi["cpu"] = Pressure(some=line)
    rates = CpuRates(
        util_pct=util_pct,
        user_pct=util_pct,
        system_pct=0.0,
        iowait_pct=0.0,
        steal_pct=0.0,
        cores=(),
        context_switches_per_s=0.0,
        count=8,
        freq_mhz=None,
        load=(1.0, 1.0, 1.0),
        running=1,
        blocked=0,
        psi=psi,
    )
    return replace(rates, **fields)


def memory(available_bytes: int = 16 * 10**9, **fields: Any) -> MemoryRates:
    """Half of it is free; any of its fields can be given."""
    rates = MemoryRates(
        total_bytes=32 * 10**9,
        used_bytes=32 * 10**9 - available_bytes,
        available_bytes=available_bytes,
        cached_bytes=0,
        shmem_bytes=0,
        dirty_bytes=0,
        swap_total_bytes=0,
        swap_used_bytes=0,
        swap_in_pages_per_s=0.0,
        swap_out_pages_per_s=0.0,
        major_faults_per_s=0.0,
    )
    return replace(rates, **fields)


def history(seconds: int, at: Callable[[int], DerivedState]) -> History:
    """One moment a second."""
    return History([at(second) for second in range(seconds + 1)])


def constant(watched: Job, seconds: int = 30, **fields: Any) -> History:
    """The same job all the time."""
    return history(seconds, lambda second: derived(float(second), watched, **fields))


def with_ages(watched: Job, seconds: float) -> Job:
    """The same job, its logs silent for so long."""
    ranks = tuple(replace(each, log_age_s=seconds, step_age_s=seconds) for each in watched.ranks)
    return replace(watched, ranks=ranks)


def seen_with_log(symptom: str, history: History) -> Observation | None:
    """What the rule sees, joined with what the log says."""
    return next(rule for rule in RULES if rule.symptom == symptom).look(history)
