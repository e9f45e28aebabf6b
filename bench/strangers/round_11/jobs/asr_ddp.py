"""CTC speech model, two ranks, accumulation over 4 micro-batches."""
import contextlib
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

ACCUM = 4


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(40, 96, 5, stride=2, padding=2)
        self.rnn = nn.GRU(96, 96, bidirectional=True, batch_first=True)
        self.out = nn.Linear(192, 30)

    def forward(self, x):
        h = torch.relu(self.conv(x)).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def utterances(gen, voices, n=6):
    frames = int(torch.randint(90, 150, (1,), generator=gen))
    labels = torch.randint(1, 30, (n, 10), generator=gen)
    idx = labels.repeat_interleave(frames // 10 + 1, 1)[:, :frames]
    x = voices[idx].transpose(1, 2) + torch.randn(n, 40, frames, generator=gen) * 0.6
    return x, labels


def ctc(logp, labels):
    n, t = logp.shape[:2]
    return nn.functional.ctc_loss(logp.transpose(0, 1), labels, torch.full((n,), t), torch.full((n,), labels.shape[1]), zero_infinity=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    voices = torch.randn(30, 40)
    net = DDP(Acoustic())
    opt = torch.optim.AdamW(net.parameters(), lr=8e-4)
    gen = torch.Generator().manual_seed(rank + 1)
    for update in range(1, 100000):
        began, total = time.monotonic(), 0.0
        for k in range(ACCUM):
            x, labels = utterances(gen, voices)
            with net.no_sync() if k < ACCUM - 1 else contextlib.nullcontext():
                loss = ctc(net(x), labels) / ACCUM
                loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        opt.zero_grad()
        if rank == 0 and update % 10 == 0:
            print(f"{time.strftime('%F %T')} | upd {update:5d} | loss {total:.3f} | {time.monotonic() - began:.3f} s", file=sys.stderr)
        if update % 150 == 0:
            with torch.no_grad():
                val = torch.stack([ctc(net.module(a), b) for a, b in (utterances(gen, voices) for _ in range(8))]).mean()
            dist.all_reduce(val)
            if rank == 0:
                print(f"dev loss {val.item() / 2:.3f}", file=sys.stderr)
                torch.save(net.module.state_dict(), f"asr_{update % 300}.pt")
            dist.barrier()


if __name__ == "__main__":
    main()
