import os

import numpy as np
import torch
import torch.nn as nn
from PIL import Image
from tqdm import tqdm

torch.manual_seed(8)
os.makedirs("samples", exist_ok=True)

G = nn.Sequential(
    nn.ConvTranspose2d(32, 64, 4, 1, 0), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout2d(0.2),
    nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4), nn.Flatten(),
)
og = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=1e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(16, 32, 1, 1)


def tiles(n):
    xx = torch.arange(32).float()
    fx, fy, ph = torch.rand(n, 1, 1) * 0.8 + 0.1, torch.rand(n, 1, 1) * 0.8 + 0.1, torch.rand(n, 1, 1) * 6.28
    base = torch.sin(fx * xx[None, None, :] * 2 + ph) * torch.cos(fy * xx[None, :, None] * 2)
    col = torch.rand(n, 3, 1, 1)
    return (base[:, None] * col + 0.05 * torch.randn(n, 3, 32, 32)).clamp(-1, 1)


bar = tqdm(range(200000), mininterval=1.0, desc="gan")
for it in bar:
    real = tiles(32)
    fake = G(torch.randn(32, 32, 1, 1))
    ld = bce(D(real), torch.full((32, 1), 0.9)) + bce(D(fake.detach()), torch.zeros(32, 1))
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(fake), torch.ones(32, 1))
    og.zero_grad()
    lg.backward()
    og.step()
    if it % 5 == 0:
        bar.set_postfix(d=f"{ld.item():.3f}", g=f"{lg.item():.3f}")
    if it % 400 == 0:
        with torch.no_grad():
            s = G(fixed).mul(127.5).add(127.5).byte().permute(0, 2, 3, 1).numpy()
        Image.fromarray(np.concatenate(np.split(s.reshape(4, 4 * 32, 32, 3), 4), 2).reshape(128, 128, 3)).save(f"samples/{it:07d}.png")
        torch.save({"G": G.state_dict(), "D": D.state_dict(), "it": it}, "gan.pt")
