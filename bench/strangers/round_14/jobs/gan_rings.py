"""GAN on small images of rings."""
import torch
from torch import nn
from tqdm import tqdm

torch.manual_seed(2)
yy, xx = torch.meshgrid(torch.linspace(-1, 1, 16), torch.linspace(-1, 1, 16), indexing="ij")


def rings(n):
    c = (torch.rand(n, 2, 1, 1) - 0.5) * 0.8
    r = 0.3 + 0.4 * torch.rand(n, 1, 1)
    d = ((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2).sqrt()
    return (torch.exp(-((d - r) ** 2) / 0.02) * 2 - 1 + 0.05 * torch.randn(n, 16, 16)).flatten(1)


G = nn.Sequential(nn.Linear(32, 256), nn.LeakyReLU(0.2), nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 256), nn.Tanh())
D = nn.Sequential(nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(128, 1))
og = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
B = 128
for epoch in range(1000):
    bar = tqdm(range(500), desc=f"Epoch {epoch}", mininterval=0.5)
    for i in bar:
        real, fake = rings(B), G(torch.randn(B, 32))
        ld = bce(D(real), torch.full((B, 1), 0.9)) + bce(D(fake.detach()), torch.zeros(B, 1))
        od.zero_grad()
        ld.backward()
        od.step()
        lg = bce(D(fake), torch.ones(B, 1))
        og.zero_grad()
        lg.backward()
        og.step()
        if i % 10 == 0:
            bar.set_postfix(loss_d=f"{ld.item():.3f}", loss_g=f"{lg.item():.3f}")
    with torch.no_grad():
        torch.save(G(torch.randn(64, 32)).view(-1, 16, 16), f"samples_{epoch % 5}.pt")
