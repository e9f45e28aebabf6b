"""What it takes to watch 64, 256 and 1,000 nodes at 1 Hz from one machine, and what one agent takes.

    python bench/fleet.py [SECONDS [NODES ...]]

Each node has 8 GPUs and 8 ranks. Its reports are those of a recorded job (`tests/data/recordings`), with ranks of its own, packed as an
agent packs them. One process writes the bytes of all nodes, each into a pipe of its own behind a `cat`, where the viewer would have an
`ssh`: everything from the pipe to the terminal is what users have. The viewer is the real screen on a terminal of 160x50.

The agent is a real one: eight ranks of a demo job, eight simulated GPUs.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from monitor_cost import cpu_s, drain, on_terminal  # noqa: E402

from hwtop import __version__  # noqa: E402
from hwtop.fleet import wire  # noqa: E402
from hwtop.fleet.condense import condensed  # noqa: E402
from hwtop.fleet.launchers.launcher import Agent, Says, Start  # noqa: E402
from hwtop.model.fleet import FleetReading, NodeReport  # noqa: E402
from hwtop.model.frame import Frame  # noqa: E402

NODES = (64, 256, 1_000)
RANKS = 8
RECORDING = "healthy"
CONNECT_S = 120.0
"""Longest that all nodes may take to begin; engineering default."""
WARM_UP_S = 5.0


def name_of(number: int) -> str:
    return f"node-{number:04}"


def reports(seconds: int) -> list[NodeReport]:
    """One a second, of the recorded job, from the moment on when its ranks are known."""
    from tests.recording import replay

    found = [
        condensed(frame) for frame in replay(RECORDING) if frame.derived.job and len(frame.derived.job.ranks) == RANKS
    ]
    return [found[min(at, len(found) - 1)] for at in range(seconds)]


def of_node(report: NodeReport, node: int, number: int) -> NodeReport:
    """The same of another node: with ranks and a number of its own."""
    from msgspec.structs import replace

    job = report.job
    assert job is not None
    first = node * RANKS
    ranks = tuple(replace(rank, rank=first + rank.rank) for rank in job.ranks)
    groups = tuple(replace(group, ranks=tuple(first + rank for rank in group.ranks)) for group in job.stacks.groups)
    job = replace(job, ranks=ranks, world_size=None, stacks=replace(job.stacks, groups=groups))
    return replace(report, host=name_of(node), number=number, job=job)


def generate(count: int, seconds: int, folder: Path) -> None:
    """The agents of all nodes: their bytes are made first, then written, a message a second and node, spread over the second."""
    from msgspec.structs import replace

    base = reports(seconds)
    packers = [wire.Packer() for _ in range(count)]
    hello = wire.Hello(protocol=wire.PROTOCOL, version=__version__, host="", time_s=time.time())
    streams: list[list[bytes]] = []
    total = 0
    for node, packer in enumerate(packers):
        parts = [packer.packed(replace(hello, host=name_of(node)))]
        parts += [packer.packed(wire.Report(report=of_node(each, node, at + 1))) for at, each in enumerate(base)]
        streams.append(parts)
        total += sum(map(len, parts))
    print(json.dumps({"bytes_per_node_and_s": total / count / seconds}), flush=True)
    pipes = []
    for node, stream in enumerate(streams):
        pipes.append(os.open(folder / name_of(node), os.O_WRONLY))
        os.write(pipes[-1], stream[0])  # the viewer starts the next ones once these have answered
    began = time.monotonic()
    for second in range(1, seconds + 1):
        for node, pipe in enumerate(pipes):
            due = began + second - 1 + node / count
            if (left := due - time.monotonic()) > 0.005:
                time.sleep(left)
            try:
                os.write(pipe, streams[node][second])
            except BrokenPipeError:  # the viewer has seen enough
                return
    time.sleep(3.0)


class PipeLauncher:
    """A `cat` for each node."""

    says: Says = ()

    def __init__(self, count: int, folder: Path) -> None:
        self._count, self._folder = count, folder

    def starts(self, agent: Agent) -> tuple[Start, ...]:  # noqa: ARG002
        names = [name_of(node) for node in range(self._count)]
        return tuple(Start(nodes=(name,), command=("cat", str(self._folder / name))) for name in names)


def view(count: int, folder: Path, seconds: float) -> None:
    """The screen. Says in `result.json` how old data was, and what the parts of a tick took, once all nodes have reported."""
    from hwtop.fleet.feed import FleetFeed
    from hwtop.fleet.live import LiveFleet
    from hwtop.ui.app import HwtopApp
    from hwtop.ui.options import Show

    ages: list[float] = []
    judged_ms: list[float] = []
    first: list[float] = []

    class TimedFeed(FleetFeed):
        def _frame(self, reading: FleetReading) -> Frame:
            before = time.thread_time()
            frame = super()._frame(reading)
            if all(node.report is not None for node in reading.nodes):
                if not first:
                    first.append(time.monotonic())
                    (folder / "ready").write_text("")
                if time.monotonic() - first[0] > WARM_UP_S:
                    judged_ms.append(1000 * (time.thread_time() - before))
                    ages.extend(node.age_s for node in reading.nodes if node.age_s is not None)
            return frame

    def start(show: Show) -> FleetFeed:
        feed = TimedFeed(LiveFleet(PipeLauncher(count, folder), Agent()), show)
        feed.start()
        return feed

    app = HwtopApp(start)

    def leave() -> None:
        while not first:
            time.sleep(0.2)
        time.sleep(WARM_UP_S + seconds)
        ages.sort()
        result = {
            "age_median_s": ages[len(ages) // 2],
            "age_99_s": ages[len(ages) * 99 // 100],
            "age_most_s": ages[-1],
            "judge_ms": sum(judged_ms) / len(judged_ms),
            "ticks": len(judged_ms),
        }
        (folder / "result.json").write_text(json.dumps(result))
        app.call_later(app.exit)

    threading.Thread(target=leave, daemon=True).start()
    app.run()


def watch(count: int, seconds: float) -> None:
    """A row of the table."""
    me = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for node in range(count):
            os.mkfifo(folder / name_of(node))
        length = str(int(seconds + WARM_UP_S + 45))
        generator = subprocess.Popen([*me, "--generate", str(count), length, name], stdout=subprocess.PIPE, text=True)
        try:
            assert generator.stdout is not None
            size = json.loads(generator.stdout.readline())["bytes_per_node_and_s"]  # all is packed
            with on_terminal([*me, "--view", str(count), name, str(seconds)]) as (process, master):
                ends = time.monotonic() + CONNECT_S
                while not (folder / "ready").exists() and time.monotonic() < ends and process.poll() is None:
                    drain(master, 0.2)
                drain(master, WARM_UP_S)
                before, began = own_cpu_s(process.pid), time.monotonic()
                drawn = drain(master, seconds - 1.0)
                spent = time.monotonic() - began
                used = own_cpu_s(process.pid) - before
                memory = rss_mb(process.pid)
                deadline = time.monotonic() + 15.0
                with contextlib.suppress(OSError):  # the terminal is gone with the viewer
                    while process.poll() is None and time.monotonic() < deadline:
                        drain(master, 0.2)
            result = json.loads((folder / "result.json").read_text())
        finally:
            generator.kill()
            generator.wait()
    print(
        f"| {count:,} | {100 * used / spent:.0f} % | {memory:.0f} MB | {size * count / 1000:.0f} kB/s | {drawn / spent / 1000:.1f} kB/s | "
        f"{result['age_median_s']:.1f} / {result['age_99_s']:.1f} / {result['age_most_s']:.1f} s | {result['judge_ms']:.0f} ms | {result['ticks'] / seconds:.2f}/s |",
        flush=True,
    )


def own_cpu_s(pid: int) -> float:
    """CPU time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def agent(seconds: float) -> None:
    """One agent of a demo job with eight ranks."""
    from hwtop.demo.catalogue import find
    from hwtop.demo.run import DemoJob

    scenario = find("healthy")
    assert scenario is not None
    with tempfile.TemporaryDirectory() as folder:
        fake = ROOT / "tests" / "fakenvml"
        subprocess.run(["make", "-s", "-C", str(fake), f"DIR={folder}"], check=True, capture_output=True)
        env = os.environ | {
            "LD_LIBRARY_PATH": folder,
            "FAKENVML_SCENARIO": str(fake / "scenarios" / "h100x8-train.scn"),
        }
        with DemoJob(scenario, Path(folder), is_stdlib_forced=True) as job:
            command = [sys.executable, "-m", "hwtop", "agent", "--pid", str(job.launcher_pid)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=ROOT) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                os.set_blocking(process.stdout.fileno(), False)
                taken(process, 25.0)  # half of the first minute's allowance for stacks is spent at once
                before, began = cpu_s(process.pid), time.monotonic()
                sent = taken(process, seconds)
                spent = time.monotonic() - began
                used, memory = cpu_s(process.pid) - before, rss_mb(process.pid)
                process.kill()
    print(
        f"an agent: {100 * used / spent:.1f} % of a core with py-spy, {memory:.0f} MB, {sent / spent / 1000:.2f} kB/s"
    )


def taken(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Read what it sends, for so long, with a sign of life a second; how many bytes."""
    assert process.stdin is not None
    assert process.stdout is not None
    count, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        process.stdin.write(wire.control_line(wire.Ping(sent_at_s=time.monotonic())))
        process.stdin.flush()
        time.sleep(1.0)
        while data := process.stdout.read(1 << 20):
            count += len(data)
    return count


def main() -> None:
    if sys.argv[1:2] == ["--generate"]:
        generate(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
        return
    if sys.argv[1:2] == ["--view"]:
        view(int(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    print(
        "| Nodes | CPU | Memory | Received | Terminal | Age of data: median / 99 % / most | Diagnosis, per tick | Ticks |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in map(int, sys.argv[2:] or NODES):
        watch(count, seconds)
    agent(seconds)


if __name__ == "__main__":
    main()
