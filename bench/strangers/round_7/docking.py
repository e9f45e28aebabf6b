"""Trains a ligand generator against an external scoring program."""
import subprocess
import sys
import time

import torch
from torch import nn

SCORER = r'''
import sys, math
for n, line in enumerate(sys.stdin):
    xs = [float(v) for v in line.split(",")]
    for i, v in enumerate(xs[:3]):
        sys.stderr.write("[scorer] ligand %d atom %02d: parameter set falls back to generic (partial charge %.5f)\n" % (n, i, v))
    sys.stderr.flush()
    print(-sum(math.cos(v) for v in xs) / len(xs), flush=True)
'''


class Scorer:
    def __init__(self):
        self.child = subprocess.Popen(
            [sys.executable, "-c", SCORER], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def __call__(self, ligand):
        self.child.stdin.write(",".join(f"{v:.5f}" for v in ligand) + "\n")
        self.child.stdin.flush()
        return float(self.child.stdout.readline())


def main():
    scorer = Scorer()
    policy = nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 24))
    opt = torch.optim.Adam(policy.parameters(), 3e-3)
    for generation in range(1, 1200):
        mean = policy(torch.randn(6, 16))
        pick = mean.detach() + 0.3 * torch.randn_like(mean)
        affinity = torch.tensor([scorer(p.tolist()) for p in pick])
        adv = affinity.mean() - affinity
        loss = ((mean - pick).square().sum(1) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.15)
        print(f"gen {generation:4d}  affinity {affinity.mean():+.4f}  best {affinity.min():+.4f}", flush=True)


if __name__ == "__main__":
    main()
