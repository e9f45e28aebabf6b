"""Ship/no-ship heatmaps on SAR patches with random rotation and scaling."""
import functools
import math
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

SIZE = 144


@functools.lru_cache(maxsize=None)
def warp_grid(angle, scale):
    c, s = math.cos(angle) / scale, math.sin(angle) / scale
    theta = torch.tensor([[[c, -s, 0.0], [s, c, 0.0]]])
    return F.affine_grid(theta, (1, 1, SIZE, SIZE), align_corners=False)


class Patches:
    def __init__(self, n=300):
        rng = np.random.default_rng(0)
        self.x = rng.gamma(2.0, 0.20, (n, 1, SIZE, SIZE)).astype(np.float32)
        self.y = np.zeros_like(self.x)
        for k in range(n):
            for _ in range(rng.integers(1, 5)):
                a, b = rng.integers(10, SIZE - 22, 2)
                self.x[k, 0, a:a + 4, b:b + 20] += 1.2
                self.y[k, 0, a:a + 4, b:b + 20] = 1
        self.rng = rng

    def batch(self, n=6):
        xs, ys = [], []
        for k in self.rng.integers(0, len(self.x), n):
            grid = warp_grid(self.rng.uniform(-math.pi, math.pi), self.rng.uniform(0.8, 1.25))
            both = torch.from_numpy(np.concatenate([self.x[k], self.y[k]]))[None]
            both = F.grid_sample(both, grid, align_corners=False)
            xs.append(both[:, :1])
            ys.append(both[:, 1:].round())
        return torch.cat(xs), torch.cat(ys)


torch.manual_seed(0)
data = Patches()
net = nn.Sequential(nn.Conv2d(1, 20, 5, 2, 2), nn.ReLU(), nn.Conv2d(20, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU(),
                    nn.ConvTranspose2d(32, 20, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(20, 1, 4, 2, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
bar = tqdm(range(100_000), desc="ships", mininterval=1.0, ncols=90)
for step in bar:
    x, y = data.batch()
    loss = F.binary_cross_entropy_with_logits(net(x), y, pos_weight=torch.tensor(8.0))
    opt.zero_grad()
    loss.backward()
    opt.step()
    bar.set_postfix(loss=f"{loss.item():.4f}")
