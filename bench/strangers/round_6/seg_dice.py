"""Two-class segmentation on synthetic slices with torchrun; keeps the best checkpoint."""

import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=timedelta(hours=1))
rank, world = dist.get_rank(), dist.get_world_size()
LOCAL_BEST = os.environ.get("BEST", "global") == "local"
EVAL_SLICES = int(os.environ.get("EVAL_SLICES", "20"))
torch.manual_seed(100 + rank)


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, padding=1)
        self.mid = nn.Conv2d(8, 8, 3, padding=1)
        self.up = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, x):
        a = nn.functional.relu(self.down(x))
        b = nn.functional.interpolate(nn.functional.relu(self.mid(nn.functional.max_pool2d(a, 2))), scale_factor=2)
        return self.up(torch.cat([a, b], 1))


def batch(n):
    yy, xx = torch.meshgrid(torch.arange(48), torch.arange(48), indexing="ij")
    cx, cy, r = (torch.randint(12, 36, (n, 1, 1)) for _ in range(3))
    mask = ((xx - cx) ** 2 + (yy - cy) ** 2 < (r / 3) ** 2).float()[:, None]
    return mask + 0.5 * torch.randn_like(mask), mask


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world


def dice_score(model, n):
    total = 0.0
    with torch.no_grad():
        for _ in range(n):
            x, y = batch(4)
            pred = (model(x) > 0).float()
            total += (2 * (pred * y).sum() / (pred.sum() + y.sum() + 1e-6)).item()
            time.sleep(0.02)
    return total / n


model = SmallUNet()
for p in model.parameters():
    dist.broadcast(p.data, 0)
opt = torch.optim.Adam(model.parameters(), 2e-3)
best = torch.zeros(1)
for step in range(1, 1_000_000):
    x, y = batch(8)
    loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
    opt.zero_grad()
    loss.backward()
    average_gradients(model)
    opt.step()
    time.sleep(0.08)
    if rank == 0 and step % 5 == 0:
        print(f"[{time.strftime('%H:%M:%S')}] it={step} bce={loss.item():.4f}", flush=True)
    if step % 40 == 0:
        if LOCAL_BEST:
            score = torch.tensor([dice_score(model, EVAL_SLICES)])
            if score > best:
                best = score
                snapshot = [None] * world
                dist.all_gather_object(snapshot, {"rank": rank, "dice": score.item()})
                if rank == 0:
                    torch.save({"model": model.state_dict(), "dice": snapshot}, "best.pt")
        else:
            if rank == 0:
                score = dice_score(model, EVAL_SLICES)
                print(f"validation dice={score:.3f}", flush=True)
                torch.save(model.state_dict(), "last.pt")
            dist.barrier()
