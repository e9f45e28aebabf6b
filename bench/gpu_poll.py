"""What watching eight GPUs asks of the driver: NVML calls a second and CPU time a tick, of hwtop and of nvitop where installed.

    python bench/gpu_poll.py [SECONDS]

On the fake driver of the tests (built with gcc), which writes down each call; the calls are counted in steady state, on a
160x50 terminal with the usual interval. CPU time is that of reading once a second without a screen, fake driver included; its
calls cost next to nothing, those of a real driver do not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from monitor_cost import drain, on_terminal  # noqa: E402

WARM_UP_S = 12.0
"""What is asked once, or every 10 s for the first time, is over by then."""
TICKS = 30

HWTOP_READS = """
from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
source = GpuNvidiaSource(deadline_s=5.0)
read = source.read
"""
NVITOP_READS = """
from nvitop import Device
devices = Device.all()
def read():
    for device in devices:
        device.as_snapshot()
        device.processes()
"""
TICK = """
import sys, time
read()
time.sleep(1)
began = time.process_time()
for _ in range(int(sys.argv[1])):
    read()
    time.sleep(1)
print((time.process_time() - began) / int(sys.argv[1]) * 1000)
"""


def fake_driver(folder: Path) -> dict[str, str]:
    """The environment of eight busy H100."""
    fake = ROOT / "tests/fakenvml"
    subprocess.run(["make", "-s", "-C", str(fake), f"DIR={folder}"], check=True)
    scenario = folder / "live.scn"
    subprocess.run([sys.executable, str(fake / "fakectl"), str(scenario), "load", "h100x8-train"], check=True)
    (folder / "pids").write_text("".join(f"rank{rank} {os.getpid()}\n" for rank in range(8)))
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LD_LIBRARY_PATH": str(folder),
        "FAKENVML_SCENARIO": str(scenario),
        "FAKENVML_PIDS": str(folder / "pids"),
    }


def calls(command: list[str], env: dict[str, str], seconds: float) -> Counter[str]:
    """NVML calls by function that a program with a screen makes in so many seconds."""
    trace = Path(env["LD_LIBRARY_PATH"]) / f"trace-{time.monotonic_ns()}"
    with on_terminal(command, env | {"FAKENVML_TRACE": str(trace)}) as (_, master):
        drain(master, WARM_UP_S)
        began_s = time.time()
        drain(master, seconds)
    lines = [line.split() for line in trace.read_text().splitlines()]
    counts = Counter(words[2] for words in lines if began_s <= float(words[0]) < began_s + seconds)
    counts["nvmlGpmMetricsGet"] //= 2  # noted twice: for the call, and for the GPU of its samples
    return +counts


def cpu_ms(read: str, env: dict[str, str]) -> float:
    """CPU time of reading all GPUs once, in steady state."""
    command = [sys.executable, "-c", read + TICK, str(TICKS)]
    return float(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    programs = {"hwtop": ([sys.executable, "-m", "hwtop", "--readonly"], HWTOP_READS)}
    if find_spec("nvitop") is not None:
        programs["nvitop"] = ([sys.executable, "-m", "nvitop"], NVITOP_READS)
    for name, (command, read) in programs.items():
        with tempfile.TemporaryDirectory() as folder:
            env = fake_driver(Path(folder))
            counts = calls(command, env, seconds)
            print(f"{name}: {counts.total() / seconds:.1f} calls/s of 8 GPUs, {cpu_ms(read, env):.1f} ms CPU a tick")
        for function, count in counts.most_common():
            print(f"  {count / seconds:7.2f}/s  {function}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
