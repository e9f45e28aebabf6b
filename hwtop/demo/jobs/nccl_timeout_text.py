"""Fault: after step 30 every rank prints what NCCL's watchdog prints on a timeout, then waits; no GPU is involved.

Symptom: nccl-timeout. Start: 2 ranks.
"""

import signal
import sys
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(1, 31):
    t = torch.ones(8)
    dist.all_reduce(t)
    time.sleep(0.1)
    print(f"step {step} loss {3 / step**0.2:.4f}", flush=True)
print(
    f"[rank{rank}]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=466119168, NumelOut=466119168, Timeout(ms)=600000) ran for "
    "600060 milliseconds before timing out.\n"
    f"[rank{rank}]:[E321 02:07:08.410316201 ProcessGroupNCCL.cpp:1664] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception "
    "(either an error or timeout) detected by watchdog at work: 1580, last enqueued NCCL work: 1582, last completed NCCL "
    "work: 1579.",
    file=sys.stderr,
    flush=True,
)
time.sleep(300)
