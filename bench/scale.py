"""What a tick costs on large machines and of large jobs: CPU time and memory as they grow, on trees in the kernel's format.

    python bench/scale.py [KIND ...]      processes, ranks, cores, disks, nics
    python bench/scale.py --job 5000      a real job of so many forked processes: what `hwtop diagnose --for 10s` takes

All processes are scanned only each few seconds: that is in the first tick. A tick is: read, derive, check all rules, draw the overview at 160x50. CPU time does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.process.candidates import CandidateSource
from hwtop.collectors.process.source import ProcessSource
from hwtop.collectors.sampler import Sampler
from hwtop.collectors.source import Source
from hwtop.feed.assemble import Assembler
from hwtop.ui.pages.layout import picture
from hwtop.ui.view import View
from tests.collectors.fake_proc import FakeProc, FakeProcess
from tests.host import HOST, Link, RecordedSystem

SIZES = {
    "processes": (100, 1_000, 10_000),
    "ranks": (8, 64, 512),
    "cores": (16, 64, 256),
    "disks": (4, 16, 64),
    "nics": (4, 16, 64),
}
WARM_UP, TICKS = 2, 5
LAUNCHER_PID, FIRST_PID = 20, 100
READ_AT_MOST_S = 60.0


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["--one"]:
        measure(words[1], int(words[2]))
        return
    if words[:1] == ["--job"]:
        diagnose(int(words[1]))
        return
    print(f"{'kind':<10} {'count':>7}  {'first tick':>10}  {'tick':>8}  {'of it reading':>13}  {'memory':>7}")
    for kind in words or SIZES:
        for count in SIZES[kind]:
            subprocess.run([sys.executable, __file__, "--one", kind, str(count)], check=True)


def measure(kind: str, count: int) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        source = MADE[kind](Path(folder), count)
        sampler = Sampler([source], host="node", interval_s=2 * READ_AT_MOST_S)
        assembler = Assembler()
        ticks: list[float] = []
        reads: list[float] = []
        for _ in range(WARM_UP + TICKS):
            began_s = time.process_time()
            snapshot = sampler.tick()
            while any("not answering" in (each.reason or "") for each in snapshot.sources):  # a busy machine
                snapshot = sampler.tick()
            reads.append(time.process_time() - began_s)
            picture(View(frame=assembler.advance(snapshot)), 160, 50)
            ticks.append(time.process_time() - began_s)
        assert all(each.status == "ok" for each in snapshot.sources), snapshot.sources
        memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        tick_ms, read_ms = (1000 * min(each[WARM_UP:]) for each in (ticks, reads))
        print(
            f"{kind:<10} {count:>7,}  {1000 * ticks[0]:>7.0f} ms  {tick_ms:>5.1f} ms  {read_ms:>10.1f} ms  {memory_mb:>4.0f} MB",
            flush=True,
        )


def processes(folder: Path, count: int) -> Source:
    programs = ("python serve.py", "/usr/sbin/sshd -D", "bash job.sh", "node app.js", "/usr/bin/postgres")
    write(folder, [FakeProcess(FIRST_PID + n, 1, programs[n % len(programs)]) for n in range(count)])
    return CandidateSource(proc=str(folder))


def ranks(folder: Path, count: int) -> Source:
    job = [
        FakeProcess(LAUNCHER_PID, 1, "python -m torch.distributed.run --nproc-per-node 8 train.py", comm="pt_elastic")
    ]
    for rank in range(count):
        env = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
        job.append(
            FakeProcess(FIRST_PID + rank, LAUNCHER_PID, "python train.py", env=env, threads=("pt_autograd_0",) * 8)
        )
    write(folder, job)
    return ProcessSource(LAUNCHER_PID, str(folder), own_pid=0, deadline_s=READ_AT_MOST_S)


def write(folder: Path, job: list[FakeProcess]) -> None:
    FakeProc(folder, [FakeProcess(1, 0, "/sbin/init", comm="systemd"), *job])


def cores(folder: Path, count: int) -> Source:
    base = HOST / "two-sockets" / "first" / "proc"
    head, *rest = (base / "stat").read_text().splitlines()
    tail = [line for line in rest if not line.startswith("cpu")]
    lines = [head, *(f"cpu{n} 100 0 50 9000 10 0 5 0 0 0" for n in range(count)), *tail]
    (folder / "stat").write_text("\n".join(lines) + "\n")
    (folder / "loadavg").write_text("1.0 2.0 3.0 1/100 5\n")
    (folder / "cpuinfo").write_text("".join(f"processor : {n}\nmodel name : C\ncpu MHz : 2400\n" for n in range(count)))
    return CpuSource(proc=str(folder), sys=str(folder), system=RecordedSystem(str(folder)))


def disks(folder: Path, count: int) -> Source:
    rows = [f" 259 {n} nvme{n}n1 100 0 800 50 100 0 800 50 1 60 100 0 0 0 0 0 0" for n in range(count)]
    (folder / "diskstats").write_text("\n".join(rows) + "\n")
    for n in range(count):
        (folder / "block" / f"nvme{n}n1").mkdir(parents=True)
    (folder / "self").mkdir()
    (folder / "self" / "mountinfo").write_text("29 1 259:0 / / rw shared:1 - ext4 /dev/nvme0n1 rw\n")
    return DiskSource(proc=str(folder), sys=str(folder), system=RecordedSystem(str(folder)))


def nics(folder: Path, count: int) -> Source:
    head = "Inter-|   Receive | Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop\n"
    rows = [f"  eth{n}: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0" for n in range(count)]
    (folder / "net").mkdir()
    (folder / "net" / "dev").write_text(head + "\n".join(rows) + "\n")
    (folder / "net" / "snmp").write_text("Tcp: OutSegs RetransSegs\nTcp: 1000 1\n")
    links = {f"eth{n}": Link(True, 100_000) for n in range(count)}
    return NetworkSource(proc=str(folder), sys=str(folder), system=RecordedSystem(str(folder), links))


MADE: dict[str, Callable[[Path, int], Source]] = {
    "processes": processes,
    "ranks": ranks,
    "cores": cores,
    "disks": disks,
    "nics": nics,
}


def diagnose(count: int) -> None:
    """A launcher that forks so many sleeping processes, and hwtop on it."""
    job = os.fork()
    if job == 0:
        os.setsid()
        for _ in range(count):
            if os.fork() == 0:
                signal.pause()
        signal.pause()
    children = Path(f"/proc/{job}/task/{job}/children")
    while len(children.read_text().split()) < count:
        time.sleep(0.2)
    try:
        began_s = time.monotonic()
        command = [sys.executable, "-m", "hwtop", "diagnose", str(job), "--for", "10s", "--json"]
        ran = subprocess.run(command, capture_output=True, check=False)
        wall_s = time.monotonic() - began_s
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
    finally:
        os.killpg(job, signal.SIGKILL)
    cpu_s, memory_mb = own.ru_utime + own.ru_stime, own.ru_maxrss / 1024
    print(
        f"{count:,} processes: {wall_s:.1f} s, {cpu_s:.1f} s of CPU time, {memory_mb:.0f} MB, exit code {ran.returncode}"
    )
    if ran.returncode not in (0, 1):
        sys.exit(ran.stderr.decode())


if __name__ == "__main__":
    main()
