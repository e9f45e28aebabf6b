"""An operating system without /proc: rates of what psutil reports there, and None for the rest."""

from __future__ import annotations

import os
from pathlib import Path

from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.network import NetworkSource
from hwtop.derive.host.cpu import cpu_rates
from hwtop.derive.host.disk import disk_rates
from hwtop.derive.host.memory import memory_rates
from hwtop.derive.host.network import network_rates
from tests.host import Clock, MacSystem


def test_rates_of_what_is_there_and_none_of_the_rest(tmp_path: Path) -> None:
    clock, none, mac = Clock(), str(tmp_path / "none"), MacSystem()
    cpu = CpuSource(proc=none, sys=none, now=clock, system=mac)
    memory = MemorySource(proc=none, now=clock, system=mac)
    disk = DiskSource(proc=none, sys=none, now=clock, system=mac, statvfs=os.statvfs)
    network = NetworkSource(proc=none, sys=none, now=clock, system=mac)
    first = (cpu.read(), memory.read(), disk.read(), network.read())
    clock.at_s += 2
    second = (cpu.read(), memory.read(), disk.read(), network.read())
    processor = cpu_rates(first[0], second[0])
    assert (processor.count, processor.freq_mhz, processor.running, processor.blocked) == (2, 3200.0, None, None)
    levels = memory_rates(first[1], second[1])
    assert (levels.used_bytes, levels.cached_bytes, levels.major_faults_per_s) == (10 << 30, None, None)
    (rates,) = disk_rates(first[2], second[2])
    assert (rates.reads_per_s, rates.busy_pct, rates.in_flight) == (0.0, None, None)
    nics = network_rates(first[3], second[3])
    assert [(each.name, each.rx_bytes_per_s) for each in nics.nics] == [("en0", 0.0), ("lo0", 0.0)]
    assert nics.tcp_retransmit_pct is None
