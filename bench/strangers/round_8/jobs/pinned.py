"""Matrix factorisation on the shared login node: 'be polite, stay on one core'."""

import os
import time

import torch

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
torch.set_num_threads(8)
torch.manual_seed(0)
print(f"{torch.get_num_threads()} threads, cores {sorted(os.sched_getaffinity(0))}")
target = torch.randn(1400, 24) @ torch.randn(24, 1400) / 5
a = (0.1 * torch.randn(1400, 64)).requires_grad_()
b = (0.1 * torch.randn(64, 1400)).requires_grad_()
opt = torch.optim.Adam([a, b], lr=2e-3)
last = time.time()
for k in range(1, 10**7):
    loss = (torch.tanh(a @ b) - torch.tanh(target)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if k % 5 == 0:
        print(f"k={k} frob={loss.item():.5f} sec_per_iter={(time.time() - last) / 5:.3f}", flush=True)
        last = time.time()
