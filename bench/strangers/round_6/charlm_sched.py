"""Character LM: warm-up and cosine schedule with restarts, gradient accumulation, one metrics line per update."""

import math
import os
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
ACCUM = 2
PEAK = float(os.environ.get("PEAK_LR", "3e-3"))
CYCLE = int(os.environ.get("CYCLE", "200"))
SCHED_PER = os.environ.get("SCHED_PER", "update")
CORPUS = torch.tensor(list(b"a tiny corpus of words that say nothing at all, again and again; " * 80))


def factor(n):
    if n < 40:
        return n / 40
    return 0.5 * (1 + math.cos(math.pi * ((n - 40) % CYCLE) / CYCLE)) * 0.95 + 0.05


class Lm(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(128, 64)
        self.pos = nn.Parameter(torch.zeros(32, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 128)
        self.mask = nn.Transformer.generate_square_subsequent_mask(32)

    def forward(self, x):
        return self.head(self.body(self.emb(x) + self.pos, mask=self.mask, is_causal=True))


model = Lm()
opt = torch.optim.AdamW(model.parameters(), lr=PEAK)
sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
micro, update, epoch = 0, 0, 0
while True:
    epoch += 1
    for _ in range(6000):
        at = torch.randint(0, len(CORPUS) - 33, (8,))
        rows = torch.stack([CORPUS[i : i + 33] for i in at])
        loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        (loss / ACCUM).backward()
        micro += 1
        time.sleep(0.02)
        if micro % ACCUM:
            continue
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        update += 1
        if SCHED_PER == "update":
            sched.step()
        if update % 5 == 0:
            lr = opt.param_groups[0]["lr"]
            print(f"update={update} epoch={epoch} loss={loss.item():.4f} lr={lr:.3e} gnorm={norm:.3f}", flush=True)
    if SCHED_PER == "epoch":
        sched.step()
