"""Healthy: DDP with loader workers, an evaluation every 40 steps, a checkpoint every 60, dict log lines.

Symptom: none. Start: 2 ranks.
"""

import os
import signal
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, Dataset, DistributedSampler

signal.alarm(300)
torch.set_num_threads(1)


class TextDataset(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.randn(64, generator=g), i % 4


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    total = torch.zeros(1)
    for k, (x, y) in enumerate(loader):
        if k == 10:
            break
        total += nn.functional.cross_entropy(model.module(x), y)
        time.sleep(0.05)
    dist.all_reduce(total)
    model.train()
    return total.item() / dist.get_world_size() / 10


def save_checkpoint(model, optimizer, step, folder):
    if dist.get_rank() == 0:
        print(f"Saving model checkpoint to {folder}/checkpoint-{step}", flush=True)
        torch.save({"model": model.module.state_dict(), "optim": optimizer.state_dict()}, f"{folder}/checkpoint.pt")
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = tempfile.mkdtemp(prefix="ckpt-", dir=os.getcwd())
    data = TextDataset()
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data), num_workers=2)
    model = DDP(nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, (x, y) in enumerate(loader, start=1):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        time.sleep(0.08)  # the rest of a step that an accelerator would take
        if rank == 0:
            print(
                {"loss": round(loss.item(), 4), "grad_norm": grad_norm.item(), "learning_rate": 1e-3, "step": step},
                flush=True,
            )
        if step % 40 == 0:
            val = evaluate(model, DataLoader(data, batch_size=8))
            if rank == 0:
                print({"eval_loss": round(val, 4), "step": step}, flush=True)
        if step % 60 == 0:
            save_checkpoint(model, optimizer, step, folder)


if __name__ == "__main__":
    main()
