"""Fault: rank 1 raises an error with the text of a CUDA out of memory error; no GPU is involved.

Symptom: cuda-oom. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
for step in range(1, 100_000):
    t = torch.ones(8)
    dist.all_reduce(t)
    time.sleep(0.1)
    print(f"step {step} loss {3 / step**0.2:.4f}", flush=True)
    if step == 70 and dist.get_rank() == 1:
        raise torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.04 GiB is "
            "free. Including non-PyTorch memory, this process has 78.06 GiB memory in use. Of the allocated memory 74.32 "
            "GiB is allocated by PyTorch, and 2.87 GiB is reserved by PyTorch but unallocated. If reserved but unallocated "
            "memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
            "documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
        )
