"""A GAN, as in the tutorial: two networks, two losses, no collectives."""

import torch
from samples import Pictures
from torch import nn
from torch.utils.data import DataLoader

generator = nn.Sequential(
    nn.ConvTranspose2d(64, 64, 4), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
)  # fmt: skip
critic = nn.Sequential(
    nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(64, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4),
)  # fmt: skip
loader = DataLoader(Pictures(6400), batch_size=32, shuffle=True, num_workers=1)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for epoch in range(25):
    for i, (real, _) in enumerate(loader):
        ones, zeros = torch.ones(len(real)), torch.zeros(len(real))
        fake = generator(torch.randn(len(real), 64, 1, 1))
        optimizer_d.zero_grad()
        score = critic(real).flatten()
        loss_d = criterion(score, ones) + criterion(critic(fake.detach()).flatten(), zeros)
        loss_d.backward()
        optimizer_d.step()
        optimizer_g.zero_grad()
        guess = critic(fake).flatten()
        loss_g = criterion(guess, ones)
        loss_g.backward()
        optimizer_g.step()
        if i % 5 == 0:
            print(
                f"[{epoch}/25][{i}/{len(loader)}]\tLoss_D: {loss_d.item():.4f}\tLoss_G: {loss_g.item():.4f}"
                f"\tD(x): {score.sigmoid().mean():.4f}\tD(G(z)): {guess.sigmoid().mean():.4f}"
            )
