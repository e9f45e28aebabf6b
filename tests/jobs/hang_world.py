"""Fault: only one of the two ranks that WORLD_SIZE promises was started."""

import signal

import torch.distributed as dist

signal.alarm(300)
print("joining", flush=True)
dist.init_process_group("gloo")
