"""Mood tags for music clips, half precision (CPU autocast), learnt on log-mel statistics."""
import argparse
import math

import torch
from torch import nn

args = argparse.ArgumentParser()
args.add_argument("--steps", type=int, default=5000)
args.add_argument("--clips", type=int, default=48)
args = args.parse_args()
torch.manual_seed(4)
torch.set_num_threads(1)
MEL, FRAMES, TAGS = 40, 64, 12
proj = torch.randn(MEL, TAGS) / 6


def clips(n):
    """Mel energies; tracks shorter than the window are padded with silence."""
    x = torch.randn(n, MEL, FRAMES).abs()
    x = x * (0.5 + torch.rand(n, MEL, 1))
    for k in range(0, n, 8):
        x[k, :, int(torch.randint(16, 48, ())):] = 0
    x[0] = 0  # room tone, carries no mood
    y = (x.mean(-1) @ proj - (0.8 * proj.sum(0)) > 0).float()
    y[0] = 0
    return x, y


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(MEL, 32, 5, padding=2, bias=False)
        self.mid = nn.Sequential(nn.ReLU(), nn.Conv1d(32, 32, 5, padding=2, stride=2, bias=False), nn.SiLU())
        self.head = nn.Linear(2 * 32, TAGS)

    def forward(self, x):
        h = self.mid(self.front(x)).float()
        mean = h.mean(-1)
        spread = torch.sqrt(((h - mean.unsqueeze(-1)) ** 2).mean(-1))
        loud = torch.sqrt((h ** 2).mean(-1))
        return self.head(torch.cat([mean + spread, loud], -1))


model = Tagger()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 16)
skipped = 0
for step in range(1, args.steps + 1):
    x, y = clips(args.clips)
    with torch.autocast("cpu", torch.float16):
        logits = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(opt)
    scaler.update()
    skipped += not math.isfinite(norm)
    if step % 2 == 0:
        print(f"step {step} | bce {loss.item():.4f} | gnorm {norm:.3f} | amp scale {scaler.get_scale():g} | skipped {skipped}")
