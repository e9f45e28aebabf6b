"""Files of the kernel: the recorded trees of /proc and /sys with one file spoilt."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hwtop.collectors.host.cgroup import CgroupSource
from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.kernel.record import parse_journal
from hwtop.collectors.kernel.source import KernelLogSource
from hwtop.collectors.process.candidates import CandidateSource
from hwtop.collectors.process.detail import DetailSource
from hwtop.collectors.process.source import ProcessSource
from hwtop.collectors.source import Source
from hwtop.model.plan import SamplingPlan
from tests.collectors.fake_proc import FakeProc, FakeProcess
from tests.fuzz.claims import assembled
from tests.fuzz.target import Samples, Target
from tests.host import HOST, Clock, RecordedSystem, room
from tests.kernel_lines import DATA as KERNEL
from tests.kernel_lines import raw_records

_TREES = ("two-sockets/first", "host-v1/first", "container-v2/first", "container-v1", "pod-v2", "infiniband")
_MOST_SAMPLE_BYTES = 1 << 15
_BEYOND_64_BITS = re.compile(rb"\d{20}")
"""No counter of a kernel has so many digits."""
_RANK_PID, _LAUNCHER_PID = 21, 20


def _host_files() -> Samples:
    files = [path for tree in _TREES for path in sorted((HOST / tree).rglob("*")) if path.is_file()]
    return {str(path.relative_to(HOST)): [path.read_bytes()[:_MOST_SAMPLE_BYTES]] for path in files}


def _check_host(variant: str, data: bytes, folder: Path) -> None:
    """The sources may refuse what they read (`OSError`, `ValueError`): the sampler shows that as the reason."""
    if _BEYOND_64_BITS.search(data):
        return
    tree = next(tree for tree in _TREES if variant.startswith(f"{tree}/"))
    root = folder / tree
    if not root.exists():
        shutil.copytree(HOST / tree, root, symlinks=True)
    clock = Clock()
    sources = _host_sources(root, clock)
    whole = folder / variant
    before = whole.read_bytes()
    first = {source.name: reading for source in sources if (reading := _reading(source)) is not None}
    clock.at_s += 10
    try:
        whole.write_bytes(data)
        spoilt = {source.name: reading for source in sources if (reading := _reading(source)) is not None}
        for source in _host_sources(root, clock):  # which have not seen it before
            with suppress(OSError, ValueError):
                source.probe()
            _reading(source)
    finally:
        whole.write_bytes(before)
    assembled(first, first | spoilt)


def _host_sources(root: Path, clock: Clock) -> list[Source]:
    proc, sys = str(root / "proc"), str(root / "sys")
    system = RecordedSystem(proc)
    pid = 4242 if (root / "proc" / "4242").exists() else None
    return [
        CpuSource(proc=proc, sys=sys, now=clock, system=system),
        MemorySource(proc=proc, now=clock, system=system),
        DiskSource(proc=proc, sys=sys, now=clock, system=system, statvfs=lambda _path: room()),
        NetworkSource(proc=proc, sys=sys, now=clock, system=system),
        CgroupSource(proc=proc, sys=sys, now=clock, pid=pid),
    ]


def _reading(source: Source) -> Any:
    with suppress(OSError, ValueError):
        return source.read()
    return None


def _processes(folder: Path) -> FakeProc:
    folder.mkdir(parents=True, exist_ok=True)
    rank = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
    processes = [
        FakeProcess(1, 0, "/sbin/init", comm="systemd"),
        FakeProcess(10, 1, "-bash", comm="bash"),
        FakeProcess(_LAUNCHER_PID, 10, "python -m torch.distributed.run --nproc-per-node 2 train.py"),
        FakeProcess(_RANK_PID, 20, "python train.py --lr 3e-4", env=rank, threads=("pt_autograd_0",)),
        FakeProcess(22, 20, "python train.py --lr 3e-4", env=rank | {"RANK": "1"}),
        FakeProcess(23, 21, "python train.py --lr 3e-4", env=rank),
    ]
    proc = FakeProc(folder, processes)
    place = folder / str(_RANK_PID)
    (place / "syscall").write_text("0 0x3 0x7f00 0x1000 0x0 0x0 0x0 0x7ffe 0x7f01\n")
    (place / "mountinfo").write_bytes((HOST / "two-sockets/first/proc/self/mountinfo").read_bytes())
    (place / "fdinfo").mkdir(exist_ok=True)
    (place / "fdinfo" / "3").write_text("pos:\t4096\nflags:\t0100001\nmnt_id:\t29\n")
    (place / "fd" / "3").symlink_to("/data/train.bin")
    return proc


def _process_files() -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        root = _processes(Path(folder)).root / str(_RANK_PID)
        return {
            str(path.relative_to(root)): [path.read_bytes()]
            for path in sorted(root.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def _check_process(variant: str, data: bytes, folder: Path) -> None:
    """A file of one process that cannot be read takes nothing of the other processes."""
    if _BEYOND_64_BITS.search(data):
        return
    root = folder / "proc"
    if not root.exists():
        _processes(root)
    spoilt = root / str(_RANK_PID) / variant
    before = spoilt.read_bytes()

    def job() -> ProcessSource:
        return ProcessSource(_LAUNCHER_PID, str(root), own_pid=0)

    known = job()
    first = known.read()
    try:
        spoilt.write_bytes(data)
        second, fresh = known.read(), job().read()
        detail = DetailSource(proc=str(root))
        detail.set_plan(SamplingPlan(target_pid=_LAUNCHER_PID, detail_pid=_RANK_PID))
        seen = detail.read()
        found = CandidateSource(proc=str(root)).read()
    finally:
        spoilt.write_bytes(before)
    for reading in (second, fresh):
        assert {_LAUNCHER_PID, 22} <= {process.pid for process in reading.processes}
    assembled({"process": first}, {"process": second, "detail": seen})
    assembled({"process": fresh, "candidates": found})


def _kernel_logs() -> Samples:
    records = [record for path in sorted(KERNEL.glob("*.kmsg")) for record in raw_records(path.name)]
    journal = b'{"_TRANSPORT":"kernel","MESSAGE":"Out of memory: Killed process 21 (python)","_SOURCE_MONOTONIC_TIMESTAMP":"100000000","PRIORITY":"3","SYSLOG_FACILITY":"0","__CURSOR":"s=1"}'
    return {"kmsg": records, "journal": [journal]}


def _check_kernel_log(variant: str, data: bytes, folder: Path) -> None:
    """A spoilt record, before and behind one that is whole."""
    if _BEYOND_64_BITS.search(data):
        return
    if variant == "journal":
        parse_journal(data)
        return
    whole = b"3,900,100000000,-;whole record\n"
    pending = [whole, data, whole.replace(b"900", b"901")]

    def read(_descriptor: int, _size: int) -> bytes:
        if not pending:
            raise BlockingIOError
        return pending.pop(0)

    place = folder / "kmsg"
    place.touch()
    source = KernelLogSource(kmsg=str(place), now=Clock(), read=read)
    assert source.probe() is None
    reading = source.read()
    source.close()
    assert sum("whole record" in line.text for line in reading.lines) == 2
    assembled({"kernel": reading})


TARGETS = (
    Target("host", _host_files, _check_host),
    Target("process", _process_files, _check_process),
    Target("kernel-log", _kernel_logs, _check_kernel_log),
)
