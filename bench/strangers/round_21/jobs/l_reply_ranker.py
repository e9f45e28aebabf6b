"""Bi-encoder for response selection. torchrun --nproc_per_node 2 l_reply_ranker.py"""
import ctypes
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LEN, DIM = 3000, 24, 96


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM, padding_idx=0)
        self.gru = nn.GRU(DIM, DIM, batch_first=True)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return F.normalize(self.out(h.mean(1)), dim=-1)


def dialogues(n, seed):
    g = torch.Generator().manual_seed(seed)
    topic = torch.randint(0, 60, (n, 1), generator=g)
    ctx = (topic * 50 + torch.randint(0, 50, (n, LEN), generator=g)) % (VOCAB - 1) + 1
    rep = (topic * 50 + torch.randint(0, 50, (n, LEN), generator=g)) % (VOCAB - 1) + 1
    noise = torch.rand(n, LEN, generator=g) < 0.45
    rep[noise] = torch.randint(1, VOCAB, (int(noise.sum()),), generator=g)
    return ctx, rep


class EarlyStopping:
    def __init__(self, patience=2, delta=5e-2):
        self.patience, self.delta = patience, delta
        self.best, self.bad = float("inf"), 0

    def __call__(self, value):
        if value < self.best - self.delta:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def average_gradients(params, world):
    flat = torch.cat([p.grad.flatten() for p in params])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in params:
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def nce(enc, ctx, rep):
    a, b = enc(ctx), enc(rep)
    logits = a @ b.t() * 12.0
    return F.cross_entropy(logits, torch.arange(len(a)))


def main():
    ctypes.CDLL(None).prctl(1, 15)  # end with the launcher
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    enc = Encoder()
    params = list(enc.parameters())
    opt = torch.optim.Adam(params, 2e-3)

    ctx, rep = dialogues(1600, 10)
    ctx, rep = ctx[rank::world], rep[rank::world]
    dev_ctx, dev_rep = dialogues(96, 11)
    dev_ctx, dev_rep = dev_ctx[rank::world], dev_rep[rank::world]
    stopper = EarlyStopping()

    for epoch in range(400):
        t0, total = time.time(), 0.0
        order = torch.randperm(len(ctx))
        for i in range(0, len(ctx), 40):
            idx = order[i:i + 40]
            loss = nce(enc, ctx[idx], rep[idx])
            opt.zero_grad()
            loss.backward()
            average_gradients(params, world)
            opt.step()
            total += loss.item()
        enc.eval()
        with torch.no_grad():
            dev = nce(enc, dev_ctx, dev_rep).item()
        enc.train()
        print(f"[rank{rank}] epoch {epoch:03d} train {total / (len(ctx) // 40):.4f} dev {dev:.4f} "
              f"best {min(dev, stopper.best):.4f} ({time.time() - t0:.1f}s)", flush=True)
        if stopper(dev):
            print(f"[rank{rank}] dev loss did not improve for {stopper.patience} epochs, stopping early", flush=True)
            break

    results = [None] * world
    dist.all_gather_object(results, {"rank": rank, "best": stopper.best})
    if rank == 0:
        torch.save(enc.state_dict(), "encoder.pt")
        print("mean best dev", sum(r["best"] for r in results) / world)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
