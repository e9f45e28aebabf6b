"""Fault: one loader worker a rank decodes in pure Python and cannot keep up.

Symptom: input-bound-cpu. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


def decode(raw):
    out = []
    for row in raw:
        for value in row:
            out.append((value * 31 + 7) % 255 / 255.0)
    return out


class Images(Dataset):
    def __init__(self):
        self.raw = [[(i * j) % 255 for j in range(256)] for i in range(256)]

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        return torch.tensor(decode(self.raw)[:512]), torch.tensor([index % 2], dtype=torch.float32)


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(512, 1))
    optim = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Images(), batch_size=24, num_workers=1, prefetch_factor=2)
    t = time.time()
    for step, (x, y) in enumerate(loader, 1):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if dist.get_rank() == 0:
            print(f"step={step} loss={loss.item():.5f} lr=0.001 step_time={time.time() - t:.3f}s", flush=True)
        t = time.time()


if __name__ == "__main__":
    main()
