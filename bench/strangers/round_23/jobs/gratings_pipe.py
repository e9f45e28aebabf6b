import json
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

dist.init_process_group("gloo")
stage = dist.get_rank()
MICRO, MB, CUT = 4, 24, (48, 8, 8)
torch.manual_seed(20 + stage)


def conv(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.GroupNorm(8, o), nn.ReLU())


if stage == 0:
    part = nn.Sequential(conv(1, 32), conv(32, 48, 2), conv(48, 48, 2))
else:
    part = nn.Sequential(conv(48, 96), conv(96, 96, 2), conv(96, 96), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 20))
opt = torch.optim.SGD(part.parameters(), lr=0.008, momentum=0.9, weight_decay=1e-4)
gen = torch.Generator().manual_seed(1)
gy, gx = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")


def sheet(n):
    k = torch.randint(20, (n,), generator=gen)
    th = k * torch.pi / 20
    f = 0.3 + 0.9 * torch.rand(n, generator=gen)
    ph = 6.28 * torch.rand(n, generator=gen)
    w = torch.cos(f[:, None, None] * (th.cos()[:, None, None] * gx + th.sin()[:, None, None] * gy) + ph[:, None, None])
    return (w + 1.9 * torch.randn(n, 32, 32, generator=gen))[:, None], k


def step(train=True):
    batches = [sheet(MB) for _ in range(MICRO)]
    if stage == 0:
        outs, sent = [], []
        for x, _ in batches:
            h = part(x)
            outs.append(h)
            sent.append(dist.isend(h.detach().contiguous(), 1))
        if train:
            for h in outs:
                g = torch.empty_like(h)
                dist.recv(g, 1)
                h.backward(g)
        for w in sent:
            w.wait()
        return 0.0, 0.0
    total = right = 0.0
    for _, k in batches:
        h = torch.empty(MB, *CUT)
        dist.recv(h, 0)
        h.requires_grad_(train)
        y = part(h)
        loss = F.cross_entropy(y, k) / MICRO
        if train:
            loss.backward()
            dist.send(h.grad, 0)
        total += loss.item()
        right += (y.argmax(1) == k).float().mean().item() / MICRO
    return total, right


t0 = time.monotonic()
for n in range(1, 50001):
    opt.zero_grad()
    loss, acc = step()
    opt.step()
    if stage == 1 and n % 10 == 0:
        print(json.dumps({"n": n, "loss": round(loss, 4), "acc": round(acc, 3), "elapsed": round(time.monotonic() - t0, 2)}), flush=True)
    if n % 150 == 0:
        part.eval()
        with torch.no_grad():
            res = [step(train=False) for _ in range(20)]
        part.train()
        torch.save({"part": part.state_dict(), "opt": opt.state_dict(), "n": n}, f"stage{stage}.pt")
        if stage == 1:
            print(json.dumps({"n": n, "val_loss": round(sum(r[0] for r in res) / 20, 4), "val_acc": round(sum(r[1] for r in res) / 20, 4)}), flush=True)
