"""Healthy: two ranks that finish and leave while they are watched, one a little after the other.

Symptom: none. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
for step in range(1, 121):
    model.zero_grad()
    loss = model(torch.randn(8, 32)).pow(2).mean()
    loss.backward()
    time.sleep(0.1)
    print(f"step {step}/120 loss {loss.item():.4f}", flush=True)
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "final.pt")
    time.sleep(3)
    print("training complete, model saved to final.pt", flush=True)
dist.destroy_process_group()
