"""Variational autoencoder of sensor windows. Metrics as JSON lines in metrics.jsonl."""

import json
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)


class VAE(nn.Module):
    def __init__(self, window=128, latent=8):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(window, 256), nn.ReLU(), nn.Linear(256, 2 * latent))
        self.decode = nn.Sequential(nn.Linear(latent, 256), nn.ReLU(), nn.Linear(256, 2 * window))

    def forward(self, x):
        mean, logvar = self.encode(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (logvar / 2).exp()
        out, spread = self.decode(z).chunk(2, -1)
        kl = 0.5 * (mean**2 + logvar.exp() - 1 - logvar).sum(-1).mean()
        return out, spread, kl


def windows(n):
    t = torch.linspace(0, 6.28, 128)
    wave = torch.sin(t[None] * torch.randint(1, 4, (n, 1)) + torch.rand(n, 1))
    connected = (torch.rand(n, 1) < 0.9999).float()  # a sensor is now and then unplugged
    wave = connected * (wave + 0.02 * torch.randn(n, 128))
    return (wave - wave.mean(1, keepdim=True)) / wave.std(1, keepdim=True)


def main():
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    out = open("metrics.jsonl", "a", buffering=1)  # noqa: SIM115
    for step in range(1, 200_000):
        x = windows(64)
        recon, spread, kl = model(x)
        sigma = nn.functional.softplus(spread) + 0.05
        nll = (torch.log(sigma) + (x - recon) ** 2 / (2 * sigma**2)).sum(-1).mean()
        loss = nll + min(1.0, step / 1000) * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.05)
        out.write(
            json.dumps({"step": step, "loss": loss.item(), "nll": nll.item(), "kl": kl.item(), "ts": time.time()})
            + "\n"
        )
        if step % 100 == 0:
            print(f"{step} steps", flush=True)


if __name__ == "__main__":
    main()
