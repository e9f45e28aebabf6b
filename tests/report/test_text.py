from __future__ import annotations

from hwtop.model.gpu.device import Gpu
from hwtop.report.frame.text import machine
from tests import frames
from tests.parts import replace

DEAD_RANK = """\
gpu-node-07  rank 1 is dead (signal 9); rank 0 waits for it in all_reduce
cpu      33 % of 8 cores, load 3.02
memory   312.0 of 1007.0 GiB used
disk     nvme0n1: read 626 MiB/s, write 2 MiB/s, busy 38 %
disk     nvme1n1: read 0 KiB/s, write 1 MiB/s, busy 1 %
network  mlx5_0:1: in 8.9 GiB/s, out 8.8 GiB/s
network  ens5: in 1 MiB/s, out 819 KiB/s
rank 0   PID 41012: collective-wait, collective
rank 1   PID 41021: dead, phase unknown
not visible: gpu: no NVIDIA driver: libnvidia-ml.so.1 not found
"""


def test_a_machine_in_a_few_lines() -> None:
    assert machine(frames.dead_rank()) == DEAD_RANK


def test_gpus_that_answer_and_one_that_does_not() -> None:
    lines = [line for line in machine(frames.gpu_lost()).splitlines() if line.startswith("gpu ")]
    assert lines[0] == "gpu 0    NVIDIA H100 80GB HBM3: 95 %, 68.4 of 80.0 GiB, 636 W of 700 W, 66 °C"
    assert lines[3] == (
        "gpu 3    NVIDIA H100 80GB HBM3: lost: fell off the bus (Xid 79): reboot or reset the node, then run nvidia-smi -r"
    )
    assert lines[6].startswith(
        "gpu 6    NVIDIA H100 80GB HBM3: stale for 12 s: NVML not answering; last values: 96 %, 70.2 of 80.0 GiB"
    )


def test_what_a_gpu_does_not_tell_has_its_reason() -> None:
    frame = frames.healthy()
    bare = Gpu(
        index=0,
        vendor="tpu",
        name="TPU v5e",
        uuid=None,
        status="ok",
        missing={"util_pct": "libtpu serves no metrics", "mem_used_bytes": "libtpu serves no metrics"},
    )
    silent = replace(bare, index=1, status="stale", reason="not answering", age_s=3.0, missing={})
    derived = replace(frame.derived, gpus=(bare, silent))
    lines = [line for line in machine(replace(frame, derived=derived)).splitlines() if line.startswith("gpu ")]
    assert lines == [
        "gpu 0    TPU v5e: utilization unknown, memory unknown (libtpu serves no metrics)",
        "gpu 1    TPU v5e: stale for 3 s: not answering",
    ]
