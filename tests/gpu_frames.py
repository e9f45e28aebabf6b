"""Frames with GPUs of all kinds, each with all that its driver can tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec.structs import replace

from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuCounters, GpuProcess, GpuRates, MigInstance
from hwtop.model.gpu.health import EccErrors, RemappedRows, RetiredPages, XidEvent
from hwtop.model.gpu.link import NvLink, Path, Topology
from tests import frames
from tests.frames import G, M

NOT_SUPPORTED = "not supported by this GPU"


def links(count: int = 18) -> tuple[NvLink, ...]:
    """All up, to switches, without an error."""
    return tuple(
        NvLink(
            link=number,
            is_up=True,
            peer="switch",
            version=4,
            speed_bytes_per_s=26.5e9,
            replay_errors=0,
            recovery_errors=0,
            crc_errors=0,
        )
        for number in range(count)
    )


def full(base: Gpu) -> Gpu:
    """An H100 with everything that NVML tells of one."""
    util = base.util_pct or 0.0
    return replace(
        base,
        pci_bus_id=f"00000000:{0x1B + 8 * base.index:02X}:00.0",
        activity=GpuActivity(
            sm_active_pct=util * 0.94,
            sm_occupancy_pct=34,
            tensor_active_pct=util * 0.6,
            dram_bw_pct=util * 0.64,
            nvlink_tx_bytes_per_s=142e9,
            nvlink_rx_bytes_per_s=139e9,
        ),
        encoder_pct=0,
        decoder_pct=0,
        mem_reserved_bytes=620 * M,
        bar1_used_bytes=2 * M,
        bar1_total_bytes=128 * G,
        power_limit_default_w=700,
        power_limit_min_w=200,
        power_limit_max_w=700,
        mem_temp_c=(base.temp_c or 0) + 12,
        temp_slowdown_c=87,
        temp_shutdown_c=92,
        mem_clock_max_mhz=2619,
        pstate=0,
        pcie_tx_bytes_per_s=0.9e9,
        pcie_rx_bytes_per_s=1.4e9,
        numa_node=base.index // 4,
        cpus="0-47,96-143" if base.index < 4 else "48-95,144-191",
        ecc=EccErrors(
            is_enabled=True,
            volatile_corrected=0,
            volatile_uncorrected=0,
            aggregate_corrected=12,
            aggregate_uncorrected=0,
            sram_uncorrected=0,
            dram_uncorrected=0,
        ),
        remapped=RemappedRows(corrected=0, uncorrected=0, is_pending=False, has_failed=False),
        nvlinks=links(),
        fabric="completed",
        persistence_mode=True,
        compute_mode="default",
        mig_mode=False,
        counters=GpuCounters(energy_mj=10**12, pcie_replays=0),
        processes=tuple(replace(process, sm_pct=95.0) for process in base.processes or ()),
        missing={"fan_pct": NOT_SUPPORTED, "retired": NOT_SUPPORTED},
    )


def matrix(count: int, near: Path = "NVLINK", far: Path = "NVLINK", number: int = 18) -> Topology:
    """`near` within a half, `far` between the halves."""
    half = max(1, (count + 1) // 2)

    def path(row: int, column: int) -> Path:
        return "SELF" if row == column else near if row // half == column // half else far

    paths = tuple(tuple(path(row, column) for column in range(count)) for row in range(count))
    counts = tuple(tuple(number if path in ("NVLINK", "XGMI") else 0 for path in row) for row in paths)
    return Topology(indexes=tuple(range(count)), paths=paths, links=counts)


def with_gpus(frame: Frame, gpus: Sequence[Gpu], topology: Topology | None = None) -> Frame:
    """The frame with these devices, now and in its history."""
    rates = tuple(GpuRates(index=gpu.index) for gpu in gpus)
    history = tuple(replace(derived, gpus=tuple(gpus), gpu_rates=rates, topology=topology) for derived in frame.history)
    return replace(frame, derived=history[-1], history=history)


def changed(frame: Frame, index: int, **fields: object) -> Frame:
    """The frame with one device that differs, now and in its history."""

    def others(gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
        return tuple(replace(gpu, **fields) if gpu.index == index else gpu for gpu in gpus)

    history = tuple(replace(derived, gpus=others(derived.gpus)) for derived in frame.history)
    return replace(frame, derived=history[-1], history=history)


@cache
def training(count: int = 8) -> Frame:
    """Ranks on fully known GPUs, all well."""
    frame = frames.healthy()
    history = []
    for second, derived in enumerate(frame.history):
        gpus = tuple(full(frames.gpu(index, second)) for index in range(count))
        rates = tuple(GpuRates(index=gpu.index, power_violation_share=0.0) for gpu in gpus)
        history.append(replace(derived, gpus=gpus, gpu_rates=rates, topology=matrix(count)))
    return replace(frame, derived=history[-1], history=tuple(history))


@cache
def ill() -> Frame:
    """One GPU with memory errors and Xids, one with links down, one that throttles, one lost."""
    frame = training()
    at_s = frame.derived.at_s
    frame = changed(
        frame,
        1,
        ecc=EccErrors(
            is_enabled=True,
            volatile_corrected=133,
            volatile_uncorrected=2,
            aggregate_corrected=2051,
            aggregate_uncorrected=5,
            sram_uncorrected=0,
            dram_uncorrected=2,
        ),
        remapped=RemappedRows(corrected=0, uncorrected=2, is_pending=True, has_failed=False),
        recovery_action="reset this GPU",
        xids=(XidEvent(code=48, at_s=at_s - 300), XidEvent(code=94, at_s=at_s - 12)),
    )
    down = tuple(
        replace(link, is_up=False, crc_errors=9_000, recovery_errors=2) if link.link in (4, 11) else link
        for link in links()
    )
    frame = changed(frame, 6, nvlinks=down)
    frame = changed(frame, 4, pcie_width=8, pcie_gen=3)
    frame = changed(frame, 5, throttle=("hw_slowdown", "hw_thermal"), temp_c=89.0, sm_clock_mhz=780.0)
    return changed(frame, 3, status="lost", reason="fell off the bus (Xid 79): drain the node and reboot it")


@cache
def mig() -> Frame:
    """Two A100: one split in three."""
    parts = (
        MigInstance(
            index=0,
            uuid="MIG-1",
            name="3g.20gb",
            gpu_instance=2,
            compute_instance=0,
            multiprocessors=42,
            mem_used_bytes=15_920 * M,
            mem_total_bytes=20_096 * M,
            processes=(GpuProcess(pid=frames.pid_of(0), mem_bytes=15_880 * M, mig=0),),
        ),
        MigInstance(
            index=1,
            uuid="MIG-2",
            name="2g.10gb",
            gpu_instance=5,
            compute_instance=0,
            multiprocessors=28,
            mem_used_bytes=6_440 * M,
            mem_total_bytes=9_984 * M,
            processes=(GpuProcess(pid=771, mem_bytes=6_400 * M, mig=1),),
        ),
        MigInstance(
            index=2, uuid="MIG-3", name="1g.5gb", mem_used_bytes=12 * M, mem_total_bytes=4_864 * M, processes=()
        ),
    )
    whole = [replace(full(frames.gpu(index, 59)), name="NVIDIA A100-SXM4-40GB", activity=None) for index in range(2)]
    split = replace(
        whole[0],
        mig_mode=True,
        mig=parts,
        util_pct=None,
        processes=(),
        missing={"util_pct": "not reported while MIG is on", "mem_util_pct": "not reported while MIG is on"},
    )
    return with_gpus(frames.healthy(), [split, whole[1]], matrix(2, number=12))


@cache
def amd() -> Frame:
    """MI300X: what the kernel tells without a library."""
    gpus = [
        Gpu(
            index=index,
            vendor="amd",
            name="AMD Instinct MI300X",
            uuid=None,
            pci_bus_id=f"0000:{index + 1:02x}:00.0",
            status="ok",
            util_pct=97.0,
            mem_used_bytes=150 * G,
            mem_total_bytes=192 * G,
            power_w=690.0,
            power_limit_w=750.0,
            temp_c=71.0,
            mem_temp_c=64.0,
            sm_clock_mhz=2_050.0,
            throttle=("sw_power_cap",) if index == 2 else (),
            retired=RetiredPages(single_bit=None, double_bit=1, is_pending=False) if index == 1 else None,
            numa_node=index // 4,
            processes=(GpuProcess(pid=frames.pid_of(index), mem_bytes=149 * G),),
            missing={"activity": "amdgpu does not tell it", "nvlinks": "amdgpu does not tell it"},
        )
        for index in range(8)
    ]
    return with_gpus(frames.healthy(), gpus, matrix(8, "XGMI", "XGMI", 1))


@cache
def tpu() -> Frame:
    """Four chips: duty cycle and memory only."""
    gpus = [
        Gpu(
            index=index,
            vendor="tpu",
            name="TPU v5p",
            uuid=None,
            status="ok",
            util_pct=92.0,
            mem_used_bytes=61 * G,
            mem_total_bytes=95 * G,
            activity=GpuActivity(tensor_active_pct=48.0),
            missing={"power_w": "not reported by libtpu", "temp_c": "not reported by libtpu"},
        )
        for index in range(4)
    ]
    return with_gpus(frames.healthy(), gpus)


@cache
def intel() -> Frame:
    """Two cards of the xe driver."""
    gpus = [
        Gpu(
            index=index,
            vendor="intel",
            name="Intel Data Center GPU Max 1550",
            uuid=None,
            status="ok",
            util_pct=88.0,
            mem_used_bytes=90 * G,
            mem_total_bytes=128 * G,
            power_w=540.0,
            sm_clock_mhz=1_550.0,
            sm_clock_max_mhz=1_600.0,
            processes=None,
            missing={"processes": "fdinfo of other users' processes needs root", "temp_c": "xe does not tell it"},
        )
        for index in range(2)
    ]
    return with_gpus(frames.healthy(), gpus)


ALL = {"training": training, "ill": ill, "mig": mig, "amd": amd, "tpu": tpu, "intel": intel}
