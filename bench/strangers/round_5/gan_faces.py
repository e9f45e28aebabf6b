"""Toy face GAN. The two losses go up and down, as they should."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm.auto import tqdm

torch.set_num_threads(1)
torch.manual_seed(4)


class Faces(Dataset):
    def __len__(self):
        return 6400

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x, y = torch.meshgrid(torch.linspace(-1, 1, 24), torch.linspace(-1, 1, 24), indexing="ij")
        face = ((x**2 + (y * (1 + 0.4 * torch.rand(1, generator=g))) ** 2) < 0.8).float()
        return face[None] * 2 - 1


def main():
    gen = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 24 * 24), nn.Tanh(), nn.Unflatten(1, (1, 24, 24)))
    disc = nn.Sequential(
        nn.Conv2d(1, 16, 4, 2),
        nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, 2),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(32 * 16, 1),
    )
    og = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.5, 0.999))
    od = torch.optim.Adam(disc.parameters(), 2e-4, betas=(0.5, 0.999))
    bce = nn.functional.binary_cross_entropy_with_logits
    loader = DataLoader(Faces(), 64, shuffle=True, num_workers=1, persistent_workers=True, drop_last=True)
    for epoch in range(500):
        bar = tqdm(loader, desc=f"Epoch {epoch}", mininterval=0.5)
        for real in bar:
            real = real + 0.2 * torch.randn_like(real)
            fake = gen(torch.randn(len(real), 32))
            d_real, d_fake = disc(real), disc(fake.detach() + 0.2 * torch.randn_like(fake))
            d_loss = bce(d_real, 0.9 * torch.ones_like(d_real)) + bce(d_fake, torch.zeros_like(d_fake))
            od.zero_grad()
            d_loss.backward()
            od.step()
            judged = disc(fake)
            g_loss = bce(judged, torch.ones_like(judged))
            og.zero_grad()
            g_loss.backward()
            og.step()
            bar.set_postfix(D=f"{d_loss.item():.3f}", G=f"{g_loss.item():.3f}")


if __name__ == "__main__":
    main()
