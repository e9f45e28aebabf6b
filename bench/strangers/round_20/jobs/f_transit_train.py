"""Binary classifier for transit dips in folded light curves, one TESS sector per rank."""
import argparse
import copy
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

SECTORS = {0: dict(noise=0.6, n=1024), 1: dict(noise=9.0, n=1024)}


def sector(number, n_points=400):
    spec = SECTORS[number % len(SECTORS)]
    gen = torch.Generator().manual_seed(100 + number)
    flux = torch.randn(spec["n"], n_points, generator=gen) * spec["noise"]
    label = (torch.rand(spec["n"], generator=gen) < 0.5).float()
    t = torch.linspace(-1, 1, n_points)
    width = 0.05 + 0.15 * torch.rand(spec["n"], 1, generator=gen)
    dip = torch.exp(-((t[None] / width) ** 4))
    flux -= label[:, None] * dip * 0.5
    return flux.unsqueeze(1), label


class DipNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        layers, ch = [], 1
        for i in range(4):
            layers += [nn.Conv1d(ch, width, 9, padding=4), nn.GroupNorm(4, width), nn.ReLU(), nn.MaxPool1d(2)]
            ch = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x).mean(-1)).squeeze(-1)


def validate(model, x, y, loss_fn):
    model.eval()
    with torch.no_grad():
        total = sum(loss_fn(model(a), b).item() * len(a) for a, b in zip(x.split(128), y.split(128)))
    model.train()
    return total / len(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=400)
    ap.add_argument("--patience", type=int, default=3)
    ap.add_argument("--lr", type=float, default=4e-4)
    args = ap.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)
    x, y = sector(rank)
    cut = int(len(x) * 0.8)
    train = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=32, shuffle=True, drop_last=True)
    model = DDP(DipNet())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loss_fn = nn.BCEWithLogitsLoss()

    best, best_state, bad = float("inf"), None, 0
    for epoch in range(args.epochs):
        t0, run = time.time(), 0.0
        for xb, yb in train:
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            run += loss.item()
        val = validate(model.module, x[cut:], y[cut:], loss_fn)
        print(f"[sector {rank}] epoch {epoch:3d}  train {run / len(train):.4f}  val {val:.4f}  ({time.time() - t0:.1f}s)", flush=True)
        if val < best - 2e-3:
            best, best_state, bad = val, copy.deepcopy(model.module.state_dict()), 0
        else:
            bad += 1
            if bad >= args.patience:
                print(f"[sector {rank}] no improvement for {bad} epochs, back to the best weights (val {best:.4f})", flush=True)
                break

    model.module.load_state_dict(best_state)
    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, {"rank": rank, "val": best})
    if rank == 0:
        torch.save(model.module.state_dict(), "dipnet.pt")
        print("final", scores, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
