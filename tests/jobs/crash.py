"""Fault: rank 1 raises a ValueError at step 70; torchrun then ends the job.

Symptom: rank-crash. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

signal.alarm(300)
torch.set_num_threads(1)


def collate(samples):
    lengths = {len(s) for s in samples}
    if len(lengths) > 1:
        raise ValueError(f"expected sequences of one length, got {sorted(lengths)}")
    return torch.stack(samples)


@record
def main():
    dist.init_process_group("gloo")
    for step in range(1, 100_000):
        n = 33 if step == 70 and dist.get_rank() == 1 else 32
        batch = collate([torch.randn(32), torch.randn(n)])
        dist.all_reduce(batch)
        time.sleep(0.1)
        print(f"step {step} loss {batch.pow(2).mean().item():.4f}", flush=True)


if __name__ == "__main__":
    main()
