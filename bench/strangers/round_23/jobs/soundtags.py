import logging
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from scipy.signal import lfilter
from torch import nn

log = logging.getLogger("soundtags")
SR, SECONDS, BANDS = 16000, 3, 24


def resonators():
    out = []
    for f in np.geomspace(80, 6000, BANDS):
        w, r = 2 * np.pi * f / SR, 0.985
        out.append((np.array([1 - r], np.float32), np.array([1, -2 * r * np.cos(w), r * r], np.float32)))
    return out


def read_clip(source, rng):
    """Field recordings (source 0) and clips of the foley library (source 1)."""
    n = SR * SECONDS
    label = int(rng.integers(4))
    f = [150, 500, 1500, 4000][label]
    tone = np.sin(2 * np.pi * f * np.arange(n) / SR + rng.random() * 6).astype(np.float32)
    if source == 0:
        x = 0.2 * tone + rng.normal(size=n).astype(np.float32) * 0.3
    else:
        x = np.zeros(n, np.float32)
        m = int(SR * rng.uniform(0.05, 0.12))
        x[:m] = 0.4 * tone[:m] + rng.normal(size=m).astype(np.float32) * 0.3
    return x, label


def features(x, bank):
    rows = []
    for b, a in bank:
        e = np.abs(lfilter(b, a, x))
        rows.append(np.log(e[: SR * SECONDS // 100 * 100].reshape(-1, 100).mean(1) + 1e-4))
    return np.stack(rows).astype(np.float32)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(format=f"%(asctime)s %(name)s[{rank}] %(levelname)s %(message)s", level=logging.INFO)
    rng = np.random.default_rng(rank)
    bank = resonators()
    torch.manual_seed(5)
    net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Conv1d(BANDS, 64, 5, 2), nn.ReLU(), nn.Conv1d(64, 64, 5, 2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(64, 4))
    )
    opt = torch.optim.Adam(net.parameters(), lr=1e-4)
    for step in range(1, 100000):
        clips = [read_clip(rank, rng) for _ in range(6)]
        x = torch.from_numpy(np.stack([features(c, bank) for c, _ in clips]))
        y = torch.tensor([l for _, l in clips])
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 2 == 0:
            log.info("step=%d loss=%.4f", step, loss.item())


main()
