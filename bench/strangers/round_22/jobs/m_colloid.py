import argparse
import math

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--micro", type=int, default=12)
ap.add_argument("--batch", type=int, default=192)
ap.add_argument("--pretrain-updates", type=int, default=12)
ap.add_argument("--lr", type=float, default=2e-3)
args = ap.parse_args()
torch.manual_seed(8)

CLASSES = 24
centres = torch.randn(CLASSES, 128)


def sample(n):
    y = torch.randint(CLASSES, (n,))
    return centres[y] + 1.3 * torch.randn(n, 128), y


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(128, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(),
                                 nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 48))

    def forward(self, x):
        return nn.functional.normalize(self.net(x).float(), dim=1)


def pairwise(z, root):
    d2 = (z[:, None] - z[None]).pow(2).sum(-1)
    return d2.sqrt() if root else d2


def contrastive(z, y, root, margin=1.0):
    d = pairwise(z, root)
    same = y[:, None].eq(y[None])
    pull = d[same].mean()
    push = (margin - d[~same]).clamp(min=0).mean()
    return pull + push


model = Embedder()
opt = torch.optim.SGD(model.parameters(), args.lr * 50, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16, growth_interval=200)

print("update,stage,loss,loss_scale")
for update in range(1, 100001):
    stage = 1 if update <= args.pretrain_updates else 2
    if update == args.pretrain_updates + 1:
        print("# stage 2: Euclidean distances")
    opt.zero_grad()
    acc = 0.0
    for _ in range(args.micro):
        x, y = sample(args.batch)
        with torch.autocast("cpu", dtype=torch.float16):
            z = model(x)
        loss = contrastive(z, y, root=stage == 2) / args.micro
        scaler.scale(loss).backward()
        acc += loss.item()
    scaler.step(opt)
    scaler.update()
    print(f"{update},{stage},{acc:.5f},{scaler.get_scale():.6g}", flush=True)
