"""A moment in a few lines of text."""

from __future__ import annotations

from hwtop.job.log.text import visible
from hwtop.model.frame import Frame


def machine(frame: Frame) -> str:
    """A few lines about the box and the job: what `hwtop snapshot` prints without --json."""
    moment = frame.moment
    lines = [f"{moment.host}  {frame.verdict.text}"]
    if moment.cpu is not None:
        lines.append(f"cpu      {_pct(moment.cpu.util_pct)} of {moment.cores:g} cores, load {moment.cpu.load[0]:.2f}")
    if moment.memory is not None:
        lines.append(f"memory   {_gb(moment.memory.used_bytes)} of {_gb(moment.memory.total_bytes)} used")
    lines += [
        f"gpu {gpu.index:<4} {gpu.name}: {_pct(gpu.util_pct)}, {_gb(gpu.mem_used_bytes)} of {_gb(gpu.mem_total_bytes)}"
        if gpu.status == "ok"
        else f"gpu {gpu.index:<4} {gpu.name}: {gpu.status}: {gpu.reason}"
        for gpu in moment.gpus
    ]
    lines += [
        f"disk     {disk.name}: read {_gb(disk.read_bytes_per_s)}/s, write {_gb(disk.write_bytes_per_s)}/s, busy {_pct(disk.busy_pct)}"
        for disk in moment.disks
    ]
    lines += [
        f"network  {nic.name}: in {_gb(nic.rx_bytes_per_s)}/s, out {_gb(nic.tx_bytes_per_s)}/s"
        for nic in (moment.network.nics if moment.network else ())
        if not nic.is_virtual
    ]
    job = moment.job
    lines += [
        f"rank {rank.rank:<3} PID {rank.pid}: {rank.state}, {rank.phase or 'phase unknown'}"
        for rank in (job.ranks if job else ())
    ]
    lines += [f"not seen {spot.source}: {spot.reason}" for spot in frame.blind]
    return "".join(f"{visible(line)}\n" for line in lines)


def _pct(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f} %"


def _gb(value: float | None) -> str:
    if value is None:
        return "unknown"
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value / 1e3:.0f} kB"
