"""SAKT-like knowledge tracing on (synthetic) exercise logs."""
import argparse
import math
import time

import torch
from torch import nn
from transformers import get_cosine_schedule_with_warmup

p = argparse.ArgumentParser()
p.add_argument("--skills", type=int, default=120)
p.add_argument("--seq", type=int, default=64)
p.add_argument("--dim", type=int, default=64)
p.add_argument("--batch", type=int, default=32)
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--warmup-steps", type=int, default=300)
p.add_argument("--steps-per-epoch", type=int, default=6000)
p.add_argument("--epochs", type=int, default=10)
args = p.parse_args()


class SAKT(nn.Module):
    def __init__(self):
        super().__init__()
        self.inter = nn.Embedding(2 * args.skills, args.dim)
        self.query = nn.Embedding(args.skills, args.dim)
        self.pos = nn.Embedding(args.seq, args.dim)
        self.att = nn.MultiheadAttention(args.dim, 4, batch_first=True)
        self.ff = nn.Sequential(nn.LayerNorm(args.dim), nn.Linear(args.dim, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, skill, correct):
        past = self.inter(skill[:, :-1] + args.skills * correct[:, :-1]) + self.pos.weight[:args.seq - 1]
        q = self.query(skill[:, 1:])
        mask = torch.triu(torch.ones(args.seq - 1, args.seq - 1, dtype=torch.bool), 1)
        h, _ = self.att(q, past, past, attn_mask=mask, need_weights=False)
        return self.ff(h + q).squeeze(-1)


def sample(g):
    ability = torch.randn(args.batch, 1, generator=g)
    skill = torch.randint(0, args.skills, (args.batch, args.seq), generator=g)
    difficulty = torch.sin(skill.float() * 1.7) * 1.5
    learn = torch.linspace(0, 1, args.seq)
    correct = (torch.rand(args.batch, args.seq, generator=g) < torch.sigmoid(2 * ability + learn - 2 * difficulty)).long()
    return skill, correct


torch.manual_seed(0)
g = torch.Generator().manual_seed(1)
model = SAKT()
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
total = args.steps_per_epoch * args.epochs
scheduler = get_cosine_schedule_with_warmup(optimizer, args.warmup_steps, total)
print(f"training for {total} steps, peak lr {args.lr:g}, cosine schedule with {args.warmup_steps} warmup steps", flush=True)
bce = nn.BCEWithLogitsLoss()
step, t0 = 0, time.time()
for epoch in range(args.epochs):
    for _ in range(args.steps_per_epoch):
        skill, correct = sample(g)
        loss = bce(model(skill, correct), correct[:, 1:].float())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 25 == 0:
            print(f"epoch {epoch} | step {step:>6}/{total} | loss {loss.item():.4f} | lr {optimizer.param_groups[0]['lr']:.2e} | {25 / (time.time() - t0):.1f} it/s", flush=True)
            t0 = time.time()
    scheduler.step()
    print(f"epoch {epoch} done, perplexity {math.exp(loss.item()):.3f}", flush=True)
