"""Character CTC on synthetic filterbanks; length buckets, cosine restarts, greedy decoding now and then."""
import csv
import math
import time

import numpy as np
import torch
from torch import nn

CH = " abcdefghijklmnopqrstuvwxyz'"
WORDS = "the court of error killed no hope in nan aborted ship a failed signal under stop fault line warning us all good night and out".split()
rng = np.random.default_rng(8)
proto = rng.normal(size=(len(CH) + 1, 40)).astype("f4")


def utterance(n_words):
    text = " ".join(rng.choice(WORDS) for _ in range(n_words))
    ids = [CH.index(c) + 1 for c in text]
    frames = np.concatenate([np.repeat(proto[[i]], rng.integers(2, 5), 0) for i in ids])
    return text, ids, frames + rng.normal(scale=2.0, size=frames.shape).astype("f4")


def batch(b):
    k = int(rng.choice([2, 3, 5, 8], p=[.35, .3, .2, .15]))
    us = [utterance(k) for _ in range(b)]
    T = -(-max(len(u[2]) for u in us) // 64) * 64
    x = torch.zeros(b, T, 40)
    for i, u in enumerate(us):
        x[i, :len(u[2])] = torch.from_numpy(u[2])
    return x, torch.tensor([len(u[2]) for u in us]), torch.tensor(sum((u[1] for u in us), [])), torch.tensor([len(u[1]) for u in us]), [u[0] for u in us]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Linear(40, 96)
        self.rnn = nn.LSTM(96, 96, bidirectional=True, batch_first=True)
        self.out = nn.Linear(192, len(CH) + 1)

    def forward(self, x):
        return self.out(self.rnn(self.pre(x).relu())[0]).log_softmax(-1)


def greedy(lp):
    best, prev, s = lp.argmax(-1).tolist(), 0, ""
    for k in best:
        if k and k != prev:
            s += CH[k - 1]
        prev = k
    return s


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, p in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, q in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (p != q))
    return row[-1]


torch.manual_seed(1)
net = Net()
opt = torch.optim.Adam(net.parameters(), 2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 300, eta_min=1e-5)
sheet = csv.writer(open("train.csv", "w", buffering=1))
sheet.writerow(["step", "ctc", "frames", "gnorm", "lr"])
print("step\tctc\tframes\tgnorm\tlr\tsec")
for step in range(1, 50001):
    t = time.time()
    x, xl, y, yl, texts = batch(12)
    lp = net(x)
    loss = nn.functional.ctc_loss(lp.transpose(0, 1), y, xl, yl)
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 2.).item()
    opt.step()
    sched.step()
    row = [step, f"{loss.item():.4f}", x.shape[1], f"{gn:.3f}", f"{sched.get_last_lr()[0]:.2e}"]
    sheet.writerow(row)
    if step % 20 == 0:
        print(*row, f"{time.time() - t:.3f}", sep="\t", flush=True)
    if step % 400 == 0:
        with torch.no_grad():
            edits = total = 0
            for _ in range(12):
                x, xl, y, yl, texts = batch(8)
                for lpi, n, ref in zip(net(x), xl, texts):
                    hyp = greedy(lpi[:n])
                    edits, total = edits + distance(hyp, ref), total + len(ref)
            print(f"## dev: errors {edits} of {total} characters, CER {100 * edits / total:.1f} %  | hyp: {hyp}  | ref: {ref}", flush=True)
        torch.save(net.state_dict(), f"ctc_{step // 400 % 3}.pt")
