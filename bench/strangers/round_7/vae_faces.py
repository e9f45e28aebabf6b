"""A VAE with running statistics of its codes."""
import sys, time
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(400, 2 * 16), nn.Linear(16, 400)

    def forward(self, x):
        mu, logv = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (logv / 2).exp()
        kl = 0.5 * (mu.square() + logv.exp() - 1 - logv).sum(1).mean()
        return self.dec(z), kl, mu


def main(window):
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    codes, total = [], 0.0
    t0 = time.time()
    for it in range(1, 5000):
        x = torch.rand(256, 400)
        rec, kl, mu = model(x)
        loss = (rec - x).square().sum(1).mean() + 0.1 * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        codes.append((mu, rec - x))
        if len(codes) > window:
            codes.pop(0)
        total = total + loss
        time.sleep(0.14)
        if it % 30 == 0:
            print(f"[{time.time() - t0:7.1f}s] it={it} elbo=-{loss.item():.2f} spread={torch.stack([c[0].std() for c in codes[-50:]]).mean().item():.3f}", flush=True)
            total = 0.0
        if time.time() - t0 > 200:
            break


main(int(sys.argv[1]))
