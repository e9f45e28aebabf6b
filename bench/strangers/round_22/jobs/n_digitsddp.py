"""Digits with strong augmentation, DDP; rank 0 validates every few epochs."""
import ctypes
import os
import signal
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end with the launcher
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16, torch.tensor(d.target)
val_x, val_y, data = x[1500:], y[1500:], TensorDataset(x[:1500], y[:1500])
net = DDP(nn.Sequential(nn.Conv2d(1, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.Dropout(0.3),
                        nn.Flatten(), nn.Linear(64 * 64, 64), nn.ReLU(), nn.Linear(64, 10)))
opt = torch.optim.SGD(net.parameters(), 0.002, momentum=0.9)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=50, sampler=sampler)
gen = torch.Generator().manual_seed(50 + rank)
for epoch in range(1, 2000):
    sampler.set_epoch(epoch)
    net.train()
    for i, (a, b) in enumerate(loader):
        a = torch.roll(a, int(torch.randint(-1, 2, (1,), generator=gen)), 3) + 0.35 * torch.randn(a.shape, generator=gen)
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i == 0 and rank == 0:
            print(f"{time.time():.2f}\tepoch={epoch}\tloss={loss.item():.4f}", flush=True)
    if epoch % 12 == 0:
        if rank == 0:
            net.module.eval()
            with torch.no_grad():
                acc = torch.stack([(net.module(val_x + 0.35 * torch.randn_like(val_x)).argmax(1) == val_y).float().mean() for _ in range(6)]).mean()
            print(f"{time.time():.2f}\tepoch={epoch}\tval_acc={acc:.4f}", flush=True)
            torch.save(net.module.state_dict(), "digits.pt.tmp")
            os.replace("digits.pt.tmp", "digits.pt")
        dist.barrier()
