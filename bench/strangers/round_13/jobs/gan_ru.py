"""GAN на цифрах 8x8."""
import logging
import os

import torch
from PIL import Image
from sklearn.datasets import load_digits
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%d.%m %H:%M:%S")
журнал = logging.getLogger("gan")
torch.manual_seed(1)
x = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
sn = nn.utils.parametrizations.spectral_norm
G = nn.Sequential(nn.Linear(32, 384), nn.BatchNorm1d(384), nn.ReLU(), nn.Linear(384, 384), nn.BatchNorm1d(384), nn.ReLU(),
                  nn.Linear(384, 64), nn.Tanh())
D = nn.Sequential(sn(nn.Linear(64, 384)), nn.LeakyReLU(0.2), sn(nn.Linear(384, 384)), nn.LeakyReLU(0.2), nn.Linear(384, 1))
og = torch.optim.Adam(G.parameters(), 2e-4, betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), 2e-4, betas=(0.5, 0.99))
bce = nn.functional.binary_cross_entropy_with_logits
os.makedirs("samples", exist_ok=True)
шум = torch.randn(36, 32)
for эпоха in range(100000):
    for i in torch.randperm(len(x))[:1792].split(128):
        real = x[i]
        fake = G(torch.randn(len(real), 32))
        ld = bce(D(real), torch.full((len(real), 1), 0.9)) + bce(D(fake.detach()), torch.zeros(len(real), 1))
        od.zero_grad()
        ld.backward()
        od.step()
        lg = bce(D(fake), torch.ones(len(real), 1))
        og.zero_grad()
        lg.backward()
        og.step()
    if эпоха % 10 == 0:
        журнал.info("эпоха %d: дискриминатор %.3f, генератор %.3f", эпоха, ld.item(), lg.item())
    if эпоха % 100 == 0:
        with torch.no_grad():
            G.eval()
            img = ((G(шум) + 1) * 127.5).byte().view(6, 6, 8, 8).permute(0, 2, 1, 3).reshape(48, 48)
            G.train()
        Image.fromarray(img.numpy()).resize((192, 192), Image.NEAREST).save(f"samples/{эпоха:05d}.png")
        журнал.info("сохранены примеры")
