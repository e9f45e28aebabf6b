"""CTC acoustic model on synthetic utterances of very different length. Launch with torchrun."""
import argparse
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--split", choices=["shuffled", "contiguous"], default="shuffled", help="how the manifest is shared among the ranks")
parser.add_argument("--batch", type=int, default=8)
opts = parser.parse_args()

dist.init_process_group("gloo")
RANK, WORLD = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)


def manifest():
    """(id, frames) sorted by duration as the corpus is delivered."""
    rng = np.random.default_rng(9)
    frames = np.sort(np.clip(rng.lognormal(4.9, 0.7, 4000), 40, 900).astype(int))
    return list(enumerate(frames.tolist()))


def my_part(items, epoch):
    if opts.split == "contiguous":
        n = len(items) // WORLD
        part = items[RANK * n : (RANK + 1) * n]
        np.random.default_rng(epoch).shuffle(part)
        return part
    items = list(items)
    np.random.default_rng(epoch).shuffle(items)
    return items[RANK::WORLD]


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(40, 128, 5, 2, 2)
        self.lstm = nn.LSTM(128, 128, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 30)

    def forward(self, x):
        h = self.front(x).relu().transpose(1, 2)
        return self.head(self.lstm(h)[0]).log_softmax(-1)


net = nn.parallel.DistributedDataParallel(Acoustic())
opt = torch.optim.Adam(net.parameters(), 5e-4)
tokens = torch.randn(30, 40)
step = 0
for epoch in range(500):
    part = my_part(manifest(), epoch)
    for k in range(0, len(part) - opts.batch + 1, opts.batch):
        t0 = time.time()
        lens = [n for _, n in part[k : k + opts.batch]]
        texts = [torch.randint(1, 30, (max(2, n // 25),)) for n in lens]
        x = torch.zeros(opts.batch, 40, max(lens))
        for i, (n, t) in enumerate(zip(lens, texts)):
            x[i, :, :n] = tokens[t.repeat_interleave(n // len(t) + 1)[:n]].T + 0.3 * torch.randn(40, n)
        lp = net(x).transpose(0, 1)
        out_len = torch.tensor([min((n + 1) // 2, lp.shape[0]) for n in lens])
        loss = nn.functional.ctc_loss(lp, torch.cat(texts), out_len, torch.tensor([len(t) for t in texts]), zero_infinity=True)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        step += 1
        if step % 5 == 0 and RANK == 0:
            print(f"{time.strftime('%F %T')} | ep {epoch} | upd {step} | ctc {loss.item():.3f} | maxlen {max(lens)} | {time.time() - t0:.2f} s", flush=True)
