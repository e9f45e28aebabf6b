"""Frames made by hand: what the screen gets from a healthy job and from sick ones, with a minute of history.

Frames cannot be changed: all tests share one of each, as making one takes longer than most of what is done with it."""

from __future__ import annotations

import math
from functools import cache

from hwtop.job.size import GIB
from hwtop.model.curve import Curve, CurveName, CurvePoint
from hwtop.model.flame import Flame, FlameNode
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.model.host.cgroup import CgroupRates
from hwtop.model.host.cpu import CoreRates, CpuRates, Pressure, PressureLine
from hwtop.model.host.disk import DiskRates, MountReading
from hwtop.model.host.memory import MemoryRates
from hwtop.model.host.network import NetworkRates, NicRates
from hwtop.model.job import Job, StackGroup
from hwtop.model.member import JobProcess, Launcher
from hwtop.model.process import JobCandidate, ProgramRates
from hwtop.model.rank import Rank, Worker
from hwtop.model.rank_stack import PhaseShare
from hwtop.model.reported.log import LogEvent, LogFile, LogLine, Progress
from hwtop.model.snapshot import SourceStatus
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from hwtop.model.symptom import Blind, Finding, Verdict
from tests.parts import job_of, rank_of, replace

G = 1024**3
M = 1024**2
T0 = 1_790_000_000.0
SECONDS = 60
LAUNCHER = 41_000

_TORCH = "/opt/venv/lib/python3.11/site-packages/"


def _wave(second: int, middle: float, swing: float, shift: float = 0.0) -> float:
    return middle + swing * math.sin(second * 0.7 + shift) * math.cos(second * 0.23 + shift)


def pid_of(rank: int) -> int:
    return LAUNCHER + 12 + 9 * rank


def frame_of(name: str, file: str, line: int) -> StackFrame:
    is_library = file.startswith("torch/")
    return StackFrame(
        name=name, filename=(_TORCH if is_library else "/home/ada/nanogpt/") + file, short_filename=file, line=line
    )


MAIN = (frame_of("train", "train.py", 291), frame_of("<module>", "train.py", 340))
BACKWARD = (
    frame_of("_engine_run_backward", "torch/autograd/graph.py", 869),
    frame_of("backward", "torch/autograd/__init__.py", 354),
    frame_of("Tensor.backward", "torch/_tensor.py", 630),
    *MAIN,
)
ALL_REDUCE = (
    frame_of("all_reduce", "torch/distributed/distributed_c10d.py", 3058),
    frame_of("wrapper", "torch/distributed/c10d_logger.py", 83),
    frame_of("mean_loss", "train.py", 212),
    *MAIN,
)
DATA = (
    frame_of("_try_get_data", "torch/utils/data/dataloader.py", 1310),
    frame_of("_next_data", "torch/utils/data/dataloader.py", 1490),
    frame_of("__next__", "torch/utils/data/dataloader.py", 741),
    *MAIN,
)
SAVE = (frame_of("write_summary", "metrics.py", 77), frame_of("after_step", "train.py", 232), *MAIN)


def _node(name: str, file: str, line: int, samples: int, *children: FlameNode, code: str | None = None) -> FlameNode:
    return FlameNode(
        frame=replace(frame_of(name, file, line), code=code),
        samples=samples,
        is_user=not file.startswith("torch/"),
        children=children,
    )


def flame(rank: int) -> Flame:
    """A minute of a healthy loop: mostly backward, some forward, a little data."""
    engine = _node("_engine_run_backward", "torch/autograd/graph.py", 869, 66)
    backward = _node(
        "Tensor.backward", "torch/_tensor.py", 630, 66, _node("backward", "torch/autograd/__init__.py", 354, 66, engine)
    )
    attention = _node("attention", "model.py", 71, 17, _node("softmax", "torch/nn/functional.py", 2_140, 9))
    mlp = _node("mlp", "model.py", 88, 11, _node("Linear.forward", "torch/nn/modules/linear.py", 134, 10))
    forward = _node(
        "GPT.forward",
        "model.py",
        190,
        36,
        _node("Block.forward", "model.py", 102, 33, attention, mlp),
        code="logits, loss = model(x, y)",
    )
    data = _node("__next__", "torch/utils/data/dataloader.py", 741, 7)
    step = _node("AdamW.step", "torch/optim/adamw.py", 220, 6)
    loss = _node(
        "mean_loss", "train.py", 212, 5, _node("all_reduce", "torch/distributed/distributed_c10d.py", 3_058, 5)
    )
    train = _node("train", "train.py", 291, 120, backward, forward, data, step, loss, code="loss.backward()")
    return Flame(
        rank=rank,
        pid=pid_of(rank),
        samples=120,
        window_s=60.0,
        roots=(_node("<module>", "train.py", 340, 120, train, code="train(load(sys.argv[1]))"),),
    )


def gpu(index: int, second: int, *, util: float = 96, power: float = 640, temp: float = 66) -> Gpu:
    used = min(100.0, max(0.0, _wave(second, util, 3, index)))
    return Gpu(
        index=index,
        vendor="nvidia",
        name="NVIDIA H100 80GB HBM3",
        uuid=f"GPU-{index:08x}",
        status="ok",
        util_pct=used,
        mem_util_pct=used * 0.6,
        mem_used_bytes=int((68.4 + 0.3 * index) * G),
        mem_total_bytes=80 * G,
        power_w=_wave(second, power, 18, index),
        power_limit_w=700,
        temp_c=temp + index % 3,
        sm_clock_mhz=1755,
        sm_clock_max_mhz=1980,
        mem_clock_mhz=2619,
        throttle=(),
        pcie_gen=5,
        pcie_gen_max=5,
        pcie_width=16,
        pcie_width_max=16,
        processes=(GpuProcess(pid=pid_of(index), mem_bytes=68 * G),),
    )


def dump(rank: int, leaf_first: tuple[StackFrame, ...], at_s: float) -> StackDump:
    return StackDump(
        pid=pid_of(rank),
        at_s=at_s,
        threads=(
            ThreadStack(
                name="MainThread", os_thread_id=pid_of(rank), is_active=True, owns_gil=False, frames=leaf_first
            ),
            ThreadStack(
                name="Thread-1 (_pin_memory_loop)",
                os_thread_id=pid_of(rank) + 5,
                is_active=False,
                owns_gil=False,
                frames=(frame_of("_wait_for_tstate_lock", "torch/utils/data/_utils/pin_memory.py", 32),),
            ),
        ),
    )


def rank(number: int, second: int, *, gpus: bool = True) -> Rank:
    step = 12_400 + int(second / 0.312)
    return rank_of(
        rank=number,
        pid=pid_of(number),
        local_rank=number,
        gpus=(number,) if gpus else (),
        is_alive=True,
        os_state="R",
        age_s=4_210,
        cpu_pct=101,
        tree_cpu_pct=_wave(second, 240, 30, number),
        main_thread_cpu_pct=99,
        thread_count=46,
        rss_bytes=int((6.1 + 0.05 * number) * G),
        workers=tuple(
            Worker(
                pid=pid_of(number) + 1 + w,
                state="S",
                cpu_pct=34,
                rss_bytes=900 * M,
                wchan=None,
                read_bytes_per_s=20 * M,
            )
            for w in range(4)
        ),
        log=f"/scratch/runs/42/logs/rank_{number}.log",
        log_age_s=0.2 + 0.1 * number,
        last_line=f"iter {step}: loss 2.4131, time 312.40ms, mfu 43.10%",
        progress=Progress(step=step, total_steps=60_000, loss=2.4131, step_time_s=0.312),
        step_time_s=0.312,
        step_age_s=0.2,
        log_interval_s=3.1,
        phase="backward",
        phase_shares=(
            PhaseShare(phase="backward", share=0.55),
            PhaseShare(phase="forward", share=0.3),
            PhaseShare(phase="data", share=0.06),
            PhaseShare(phase="collective", share=0.05),
        ),
        samples=60,
        stack=dump(number, BACKWARD, 1_000.0 + second),
        same_stack_for_s=0,
        state="training",
    )


def _processes(ranks: tuple[Rank, ...]) -> tuple[JobProcess, ...]:
    def row(
        pid: int, ppid: int, depth: int, role: str, number: int | None, cpu: float, rss: float, command: str
    ) -> JobProcess:
        return JobProcess(
            pid=pid,
            ppid=ppid,
            depth=depth,
            role=role,  # type: ignore[arg-type]
            rank=number,
            state="S" if cpu < 50 else "R",
            cpu_pct=cpu,
            rss_bytes=int(rss * G),
            thread_count=46 if role == "rank" else 4,
            read_bytes_per_s=20 * M if role == "loader-worker" else 0,
            written_bytes_per_s=0,
            fd_count=92,
            wchan="futex_wait_queue" if cpu < 50 else None,
            threads={"python": 40, "pt_autograd_0": 1},
            thread_states={"S": 43, "R": 3},
            command=command,
        )

    rows = [
        row(
            LAUNCHER,
            1,
            0,
            "launcher",
            None,
            1,
            0.2,
            f"torchrun --nproc-per-node {len(ranks)} train.py --config gpt2-1.5b",
        )
    ]
    for item in ranks:
        rows.append(
            row(
                item.pid,
                LAUNCHER,
                1,
                "rank",
                item.rank,
                item.process.cpu_pct or 0,
                6.1,
                "python train.py --config gpt2-1.5b",
            )
        )
        rows += [
            row(w.pid, item.pid, 2, "loader-worker", item.rank, w.cpu_pct or 0, 0.9, "python train.py (pt_data_worker)")
            for w in item.workers
        ]
    return tuple(rows)


def _lines(ranks: tuple[Rank, ...], second: int, step_s: float) -> tuple[LogLine, ...]:
    return tuple(
        LogLine(
            path=item.log.path or "",
            line_no=4_000 + 10 * (second - back),
            text=f"iter {12_400 + int((second - back) / step_s)}: loss {2.44 - (second - back) * 0.0005:.4f}, time {step_s * 1000:.2f}ms, mfu {13.45 / step_s:.2f}%",
            at_s=1_000.0 + second - back,
            is_past=False,
        )
        for back in range(12, -1, -3)
        for item in ranks
    )


def job(ranks: tuple[Rank, ...], second: int, *, groups: tuple[StackGroup, ...] = ()) -> Job:
    everyone = tuple(item.rank for item in ranks)
    here = (StackGroup(ranks=everyone, frames=BACKWARD[::-1], phase="backward", user_frame=MAIN[0], leaf=BACKWARD[0]),)
    return job_of(
        target_pid=LAUNCHER,
        launcher=Launcher(pid=LAUNCHER, kind="torchrun", command="torchrun train.py"),
        world_size=len(ranks),
        ranks=ranks,
        processes=_processes(ranks),
        stack_groups=groups or here,
        log_files=tuple(
            LogFile(path=item.log.path or "", pids=(item.pid,), size_bytes=4 * M, age_s=item.log.age_s)
            for item in ranks
        ),
        lines=_lines(ranks, second, ranks[0].progress.step_time_s or 1),
        curves=curves(second),
        flame=flame(ranks[0].rank),
    )


@cache
def _reported() -> dict[CurveName, tuple[CurvePoint, ...]]:
    """Every tenth step from 0 on: the first 12,400 were told before hwtop came, the rest one each 3.12 s."""
    points: dict[CurveName, list[CurvePoint]] = {}
    for step in range(0, 13_600, 10):
        noise = math.sin(step * 1.7) * math.cos(step * 0.31)
        values: dict[CurveName, float] = {
            "loss": 2.3 + 8.6 * math.exp(-step / 900) + 0.06 * noise,
            "grad_norm": 0.4 + 3 * math.exp(-step / 500) + 0.08 * noise,
            "lr": 6e-4 * min(1.0, step / 2_000) * (1 - step / 60_000),
            "step_time_s": 0.312 + 0.004 * noise,
            "throughput": 420_000 / (0.312 + 0.004 * noise) * 0.312,
        }
        for name, value in values.items():
            at_s = 1_000.0 + max(0.0, (step - 12_400) * 0.312)
            points.setdefault(name, []).append(CurvePoint(step=step, at_s=at_s, value=value, is_past=step <= 12_400))
    return {name: tuple(of_name) for name, of_name in points.items()}


def curves(second: int) -> tuple[Curve, ...]:
    """What rank 0 has told until this second."""
    count = 1_241 + int(second / 3.12)
    return tuple(
        Curve(
            name=name,
            unit="tokens/s" if name == "throughput" else "",
            source="/scratch/runs/42/logs/rank_0.log",
            rank=0,
            points=points[:count],
        )
        for name, points in _reported().items()
    )


def _pressure(some: float, full: float) -> Pressure:
    def line(value: float) -> PressureLine:
        return PressureLine(avg10_pct=value, avg60_pct=value, avg300_pct=value, total_us=1)

    return Pressure(some=line(some), full=line(full))


def cpu(second: int, *, cores: int = 96, util: float = 34, iowait: float = 0.4, io_stall: float = 0.3) -> CpuRates:
    def of(index: int) -> float:
        return min(100.0, max(0.0, _wave(second, util, 20, index * 1.3)))

    return CpuRates(
        util_pct=min(100.0, _wave(second, util, 4)),
        user_pct=util * 0.85,
        system_pct=util * 0.15,
        iowait_pct=iowait,
        steal_pct=0,
        cores=tuple(CoreRates(util_pct=of(index), iowait_pct=iowait, steal_pct=0) for index in range(cores)),
        context_switches_per_s=84_000,
        count=cores,
        freq_mhz=3_100,
        load=(cores * util / 90, cores * util / 95, cores * util / 100),
        running=int(cores * util / 95),
        blocked=0,
        psi={"cpu": _pressure(util / 12, 0), "io": _pressure(io_stall, io_stall / 2), "memory": _pressure(0, 0)},
    )


@cache
def derived(second: int, *, gpus: int = 8, ranks: int = 8, cores: int = 96) -> DerivedState:
    return DerivedState(
        time_s=T0 + second,
        at_s=1_000.0 + second,
        host="gpu-node-07",
        interval_s=1.0,
        cores=float(cores),
        cpu=cpu(second, cores=cores),
        cgroup=CgroupRates(
            cpu_quota_cores=None,
            throttled_periods_pct=None,
            mem_limit_bytes=800 * G,
            mem_used_bytes=410 * G,
            mem_cache_bytes=180 * G,
            oom_kills_new=0,
        ),
        memory=MemoryRates(
            total_bytes=1_007 * G,
            used_bytes=312 * G,
            available_bytes=695 * G,
            cached_bytes=402 * G,
            shmem_bytes=22 * G,
            dirty_bytes=640 * M,
            swap_total_bytes=0,
            swap_used_bytes=0,
            swap_in_pages_per_s=0,
            swap_out_pages_per_s=0,
            major_faults_per_s=2,
        ),
        disks=(
            DiskRates(
                name="nvme0n1",
                read_bytes_per_s=_wave(second, 640, 60) * M,
                write_bytes_per_s=2 * M,
                reads_per_s=5_100,
                writes_per_s=30,
                latency_ms=0.4,
                busy_pct=38,
                in_flight=4,
            ),
            DiskRates(
                name="nvme1n1",
                read_bytes_per_s=0,
                write_bytes_per_s=1 * M,
                reads_per_s=0,
                writes_per_s=12,
                latency_ms=0.2,
                busy_pct=1,
                in_flight=0,
            ),
        ),
        mounts=(
            MountReading(
                mount_point="/",
                device="/dev/nvme1n1p2",
                fs_type="ext4",
                total_bytes=440 * G,
                used_bytes=201 * G,
                available_bytes=239 * G,
            ),
            MountReading(
                mount_point="/scratch",
                device="/dev/nvme0n1",
                fs_type="xfs",
                total_bytes=7_000 * G,
                used_bytes=5_180 * G,
                available_bytes=1_820 * G,
            ),
            MountReading(
                mount_point="/mnt/lustre/datasets",
                device="10.0.0.4@o2ib:/fs",
                fs_type="lustre",
                total_bytes=900_000 * G,
                used_bytes=611_000 * G,
                available_bytes=289_000 * G,
            ),
            MountReading(
                mount_point="/dev/shm",
                device="shm",
                fs_type="tmpfs",
                total_bytes=503 * G,
                used_bytes=22 * G,
                available_bytes=481 * G,
            ),
        ),
        network=NetworkRates(
            nics=(
                NicRates(
                    name="mlx5_0:1",
                    rx_bytes_per_s=_wave(second, 9.1, 1) * G,
                    tx_bytes_per_s=_wave(second, 9.0, 1) * G,
                    errors_per_s=0,
                    drops_per_s=0,
                    link_mbit_per_s=400_000,
                    is_up=True,
                    is_virtual=False,
                ),
                NicRates(
                    name="ens5",
                    rx_bytes_per_s=1.2 * M,
                    tx_bytes_per_s=0.8 * M,
                    errors_per_s=0,
                    drops_per_s=0,
                    link_mbit_per_s=100_000,
                    is_up=True,
                    is_virtual=False,
                ),
            ),
            tcp_retransmit_pct=0.0,
        ),
        gpus=tuple(gpu(index, second) for index in range(gpus)),
        job=job(tuple(rank(number, second, gpus=bool(gpus)) for number in range(ranks)), second),
        sources=(SourceStatus(name="gpu", status="ok", age_s=0.1, cost_ms=4.0),),
        cost_ms=21,
        late_ms=2,
        own_cpu_pct=2.1,
        own_rss_bytes=71 * M,
    )


def _frame(
    derived_states: list[DerivedState],
    verdict: Verdict,
    findings: tuple[Finding, ...] = (),
    blind: tuple[Blind, ...] = (),
) -> Frame:
    return Frame(
        number=len(derived_states),
        derived=derived_states[-1],
        history=tuple(derived_states),
        verdict=verdict,
        findings=findings,
        blind=blind,
        watched_s=134.0,
    )


@cache
def healthy() -> Frame:
    return _frame(
        [derived(second) for second in range(SECONDS)],
        Verdict(level="ok", text="training normally: 0.312 s/step, 8 of 8 ranks in step"),
    )


def _starved(second: int) -> DerivedState:
    base = derived(second)
    assert base.job is not None
    share = min(1.0, second / 20)
    ranks = tuple(
        replace(
            item,
            step_time_s=1.94,
            progress=Progress(step=12_400 + int(second / 1.94), total_steps=60_000, loss=2.4131, step_time_s=1.94),
            phase="data",
            state="data-wait",
            tree_cpu_pct=412.0,
            phase_shares=(
                PhaseShare(phase="data", share=0.82),
                PhaseShare(phase="backward", share=0.11),
                PhaseShare(phase="forward", share=0.05),
            ),
            stack=dump(item.rank, DATA, base.at_s),
            workers=tuple(replace(worker, state="R", cpu_pct=99.0) for worker in item.workers),
            last_line="iter 12430: loss 2.4131, time 1940.11ms, mfu 6.90%",
        )
        for item in base.job.ranks
    )
    groups = (StackGroup(ranks=tuple(range(8)), frames=DATA[::-1], phase="data", user_frame=MAIN[0], leaf=DATA[0]),)
    return replace(
        base,
        cpu=cpu(second, util=34 + 55 * share),
        gpus=tuple(
            gpu(index, second, util=96 - 82 * share, power=640 - 430 * share, temp=66 - 14 * share)
            for index in range(8)
        ),
        job=job(ranks, second, groups=groups),
    )


@cache
def input_bound() -> Frame:
    finding = Finding(
        symptom="input-bound-cpu",
        severity="warning",
        confidence=0.93,
        category="performance",
        title="All 8 GPUs wait for data: the loader workers' own CPU work is the limit",
        evidence=(
            "ranks spend 82% of their time in DataLoader.__next__ (60 samples in 60 s)",
            "GPU utilization 14% mean over 40 s, 31% of the power limit",
            "32 of 32 loader workers use 99% of a core; 61% of their samples are in random_crop (transforms.py:88)",
            "0.31 s/step before, 1.94 s/step now",
        ),
        next_steps=(
            "raise num_workers from 4 to about 10 per rank: 64 of the 96 cores are free",
            "move random_crop off the Python path (torchvision v2 on tensors, or DALI)",
        ),
        ranks=tuple(range(8)),
        first_seen_s=38,
        folded=("gpu-idle-cpu-busy",),
    )
    return _frame(
        [_starved(second) for second in range(SECONDS)],
        Verdict(level="warning", text="GPUs wait for data: loader workers are CPU-bound, 1.94 s/step instead of 0.31"),
        (finding,),
    )


def _hung(second: int) -> DerivedState:
    base = derived(min(second, 9))
    base = replace(base, time_s=T0 + second, at_s=1_000.0 + second)
    assert base.job is not None
    stuck = max(0, second - 9)
    ranks = tuple(
        replace(
            item,
            phase="collective" if item.rank != 5 else "logging",
            state=("stuck" if stuck > 15 else "collective-wait") if item.rank != 5 else "stuck",
            is_waiting=item.rank != 5,
            step_age_s=float(stuck),
            log_age_s=float(stuck),
            same_stack_for_s=float(stuck),
            tree_cpu_pct=102.0 if item.rank != 5 else 0.4,
            phase_shares=(
                PhaseShare(phase="collective" if item.rank != 5 else "logging", share=min(1.0, stuck / 50)),
                PhaseShare(phase="backward", share=max(0.0, 1 - stuck / 50)),
            ),
            stack=dump(item.rank, ALL_REDUCE if item.rank != 5 else SAVE, base.at_s - 1),
            wchan=None if item.rank != 5 else "rpc_wait_bit_killable",
            os_state="R" if item.rank != 5 else "D",
        )
        for item in base.job.ranks
    )
    others = tuple(number for number in range(8) if number != 5)
    groups = (
        StackGroup(
            ranks=others, frames=ALL_REDUCE[::-1], phase="collective", user_frame=ALL_REDUCE[2], leaf=ALL_REDUCE[0]
        ),
        StackGroup(ranks=(5,), frames=SAVE[::-1], phase="logging", user_frame=SAVE[0], leaf=SAVE[0]),
    )
    watched = job(ranks, min(second, 9), groups=groups)
    if stuck > 40:
        line = LogLine(
            path=ranks[0].log.path or "",
            line_no=4_100,
            text="[rank0]:[W1121 11:40:02] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8812, OpType=ALLREDUCE) ran for 40012 milliseconds",
            at_s=base.at_s,
            is_past=False,
        )
        event = LogEvent(
            pattern="nccl-timeout",
            severity="critical",
            role="cascade",
            path=line.path,
            line_no=4_100,
            text=line.text,
            at_s=base.at_s,
            is_past=False,
            explanation="a collective did not finish in time",
            rank=0,
        )
        watched = replace(watched, lines=(*watched.logs.lines, line), events=(event,))
    gpus = tuple(
        gpu(index, second, util=100 if index != 5 else 0, power=186 if index != 5 else 118, temp=48)
        if stuck
        else base.gpus[index]
        for index in range(8)
    )
    network = NetworkRates(
        nics=tuple(replace(nic, rx_bytes_per_s=0.0, tx_bytes_per_s=0.0) for nic in base.network.nics)
        if base.network
        else (),
        tcp_retransmit_pct=None,
    )
    mounts = tuple(
        replace(mount, used_bytes=None, available_bytes=None, total_bytes=None, reason="not answering for 50 s")
        if mount.fs_type == "lustre"
        else mount
        for mount in base.mounts
    )
    return replace(
        base,
        job=watched,
        gpus=gpus,
        network=network if stuck else base.network,
        mounts=mounts if stuck > 5 else base.mounts,
        cpu=cpu(second, util=11 if stuck else 34),
    )


@cache
def hang() -> Frame:
    finding = Finding(
        symptom="hang",
        severity="critical",
        confidence=0.97,
        category="stability",
        title="Rank 5 never reached the all_reduce that the 7 other ranks wait in",
        evidence=(
            "no rank has made a step for 50 s; a step took 0.31 s before",
            "ranks 0-4,6-7 stand in all_reduce (train.py:212 mean_loss) since 50 s",
            "rank 5 stands in write_summary (metrics.py:77) since 50 s, state D in rpc_wait_bit_killable: a file system does not answer",
            "GPUs 0-4,6-7 show 100% at 27% of the power limit: they spin in NCCL",
        ),
        next_steps=(
            "look at the file that rank 5 writes: ls -l /proc/41057/fd; mount /mnt/lustre/datasets does not answer",
            "write summaries from rank 0 only, or to a local disk",
        ),
        ranks=(5,),
        first_seen_s=84,
        folded=("nccl-timeout x1", "filesystem-hang"),
    )
    mount = Finding(
        symptom="filesystem-hang",
        severity="critical",
        confidence=0.9,
        category="stability",
        title="/mnt/lustre/datasets has not answered for 50 s",
        evidence=("statvfs on it has not returned for 50 s", "1 process of the job is in state D"),
        next_steps=("ask the storage admins; lfs check servers",),
        first_seen_s=86,
    )
    return _frame(
        [_hung(second) for second in range(SECONDS)],
        Verdict(
            level="critical", text="the job hangs since 50 s: rank 5 is not in the all_reduce that 7 ranks wait in"
        ),
        (finding, mount),
    )


@cache
def gpu_lost() -> Frame:
    derived_states = []
    for second in range(SECONDS):
        base = derived(second)
        gpus = list(base.gpus)
        if second > 30:
            gpus[3] = Gpu(
                index=3,
                vendor="nvidia",
                name=gpus[3].name,
                uuid=None,
                status="lost",
                reason="fell off the bus (Xid 79): reboot or reset the node, then run nvidia-smi -r",
            )
            gpus[6] = replace(gpus[6], status="stale", age_s=12.0, reason="NVML not answering")
        gpus[1] = replace(gpus[1], throttle=("sw_thermal", "sw_power_cap"), temp_c=88, sm_clock_mhz=1_210)
        derived_states.append(replace(base, gpus=tuple(gpus)))
    finding = Finding(
        symptom="gpu-lost",
        severity="critical",
        confidence=0.99,
        category="stability",
        title="GPU 3 (rank 3) is lost: it fell off the bus",
        evidence=("NVML answers GPU_IS_LOST for GPU 3 since 29 s", "kernel log: Xid 79 on 0000:5d:00"),
        next_steps=(
            "drain the node and reboot it; a job on this GPU cannot go on",
            "if it comes back: run a memory and power test before use",
        ),
        ranks=(3,),
        first_seen_s=100,
    )
    return _frame(
        derived_states, Verdict(level="critical", text="GPU 3 is lost (Xid 79): rank 3 cannot go on"), (finding,)
    )


@cache
def dead_rank() -> Frame:
    """Two ranks on a box without a GPU; one was killed."""
    derived_states = []
    for second in range(SECONDS):
        base = derived(second, gpus=0, ranks=2, cores=8)
        assert base.job is not None
        if second > 40:
            first, second_rank = base.job.ranks
            gone = replace(
                second_rank,
                is_alive=False,
                os_state="X",
                state="dead",
                exit_code=-9,
                tree_cpu_pct=None,
                rss_bytes=None,
                log_age_s=19.0,
                phase=None,
                phase_shares=(),
                workers=(),
            )
            waiting = replace(first, state="collective-wait", phase="collective", log_age_s=19.0)
            base = replace(base, job=job((waiting, gone), second))
        status = SourceStatus(name="gpu", status="unavailable", reason="no NVIDIA driver: libnvidia-ml.so.1 not found")
        derived_states.append(replace(base, sources=(status,)))
    finding = Finding(
        symptom="rank-dead",
        severity="critical",
        confidence=0.98,
        category="stability",
        title="Rank 1 was killed (signal 9) 19 s ago; rank 0 waits for it",
        evidence=(
            "PID 41021 ended with signal 9 (SIGKILL)",
            "rank 0 stands in all_reduce since 19 s",
            "no out-of-memory kill in this cgroup",
        ),
        next_steps=("look for who sent it: dmesg -T | tail; journalctl -k", "restart from the last checkpoint"),
        ranks=(1,),
        first_seen_s=115,
    )
    return _frame(
        derived_states,
        Verdict(level="critical", text="rank 1 is dead (signal 9); rank 0 waits for it in all_reduce"),
        (finding,),
        (Blind(source="gpu", reason="no NVIDIA driver: libnvidia-ml.so.1 not found"),),
    )


@cache
def picker() -> Frame:
    def candidate(
        pid: int,
        kind: str,
        title: str,
        ranks: int,
        reason: str | None = None,
        user: str = "ada",
        log_age_s: float | None = None,
    ) -> JobCandidate:
        return JobCandidate(
            pid=pid,
            kind=kind,
            title=title,
            user=user,
            ranks=ranks,
            age_s=4_000,
            can_attach=reason is None,
            reason=reason,
            folder="/data/runs/gpt2-1.5b" if kind == "training" else None,
            log_age_s=log_age_s,
        )

    found = (
        candidate(812, "other", "/usr/lib/systemd/systemd-journald", 0, "not a Python process", "root"),
        candidate(LAUNCHER, "training", "torchrun --nproc-per-node 8 train.py --config gpt2-1.5b", 8, log_age_s=2.0),
        candidate(
            52_007,
            "training",
            "accelerate launch finetune.py",
            2,
            "belongs to user bob: run sudo hwtop 52007",
            "bob",
            431.0,
        ),
        candidate(7_410, "python", "jupyter-lab --no-browser", 0),
    )
    programs = (
        ProgramRates(pid=LAUNCHER, name="train.py", user="ada", cpu_pct=803.0, rss_bytes=96 * GIB, pids=(LAUNCHER,)),
        ProgramRates(pid=52_007, name="finetune.py", user="bob", cpu_pct=1.0, rss_bytes=22 * GIB, pids=(52_007,)),
        ProgramRates(pid=7_410, name="jupyter-lab", user="ada", cpu_pct=0.0, rss_bytes=GIB // 8, pids=(7_410,)),
    )
    fields = {"job": None, "candidates": found, "programs": programs}
    derived_states = [replace(derived(second), **fields) for second in range(SECONDS)]
    return _frame(derived_states, Verdict(level="info", text="pick a job to watch: 2 training jobs run here"))


@cache
def nothing_to_pick() -> Frame:
    frame = picker()
    derived_states = [replace(item, candidates=()) for item in frame.history]
    return _frame(derived_states, Verdict(level="info", text="no training job runs on this machine"))


ALL = {
    "healthy": healthy,
    "input-bound": input_bound,
    "hang": hang,
    "gpu-lost": gpu_lost,
    "dead-rank": dead_rank,
    "picker": picker,
}
