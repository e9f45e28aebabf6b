"""GAN on point clouds; scalars to TensorBoard, samples to disk now and then."""
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(8)
G = nn.Sequential(nn.Linear(16, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 2))
D = nn.Sequential(nn.Linear(2, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
og = torch.optim.Adam(G.parameters(), 2e-4, betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), 1e-4, betas=(0.5, 0.99))
bce = nn.functional.binary_cross_entropy_with_logits
tb = SummaryWriter("tb")


def real(n=512):
    k = torch.randint(0, 8, (n,)) * (2 * np.pi / 8)
    return torch.stack([k.cos(), k.sin()], 1) * 2 + torch.randn(n, 2) * 0.1


ones, zeros = torch.full((512, 1), 0.9), torch.zeros(512, 1)
for it in range(1, 1_000_000):
    fake = G(torch.randn(512, 16))
    d_loss = bce(D(real()), ones) + bce(D(fake.detach()), zeros)
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = bce(D(fake), ones)
    og.zero_grad()
    g_loss.backward()
    og.step()
    if it % 50 == 0:
        tb.add_scalar("loss/d", d_loss.item(), it)
        tb.add_scalar("loss/g", g_loss.item(), it)
    if it % 250 == 0:
        print(f"[{it:>7}] D {d_loss.item():.3f}  G {g_loss.item():.3f}")
    if it % 3000 == 0:
        np.save("samples.npy", G(torch.randn(2000, 16)).detach().numpy())
        torch.save({"G": G.state_dict(), "D": D.state_dict()}, "gan.pt")
        print("samples and weights written")
