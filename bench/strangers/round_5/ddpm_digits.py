"""Diffusion on small digits: EMA weights, loader workers, and states saved by a thread."""

import copy
import logging
import threading
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("ddpm")
BETAS = torch.linspace(1e-4, 0.02, 200)
ALPHA_BAR = torch.cumprod(1 - BETAS, 0)


class Digits(Dataset):
    def __init__(self, count=4096):
        self.images = torch.full((count, 1, 16, 16), -1.0)
        for image, (r, c) in zip(self.images, torch.randint(2, 10, (count, 2)).tolist(), strict=True):
            image[:, r : r + 4, 3:13] = 1
            image[:, 3:13, c : c + 3] = 1

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(200, 256)
        self.inner = nn.Sequential(nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 256))

    def forward(self, x, t):
        return self.inner(torch.cat([x.flatten(1), self.time(t)], 1)).view_as(x)


def write(state, path):
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)
    log.info("saved %s", path)


def main():
    model = Denoiser()
    ema = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4)
    loader = DataLoader(Digits(), 64, shuffle=True, num_workers=2, persistent_workers=True)
    step, saver = 0, None
    for epoch in range(100_000):
        for x in loader:
            t = torch.randint(0, 200, (len(x),))
            noise = torch.randn_like(x)
            a = ALPHA_BAR[t][:, None, None, None]
            loss = nn.functional.mse_loss(model(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for p, q in zip(ema.parameters(), model.parameters(), strict=True):
                p.lerp_(q.detach(), 0.005)
            step += 1
            if step % 50 == 0:
                log.info("epoch %d step %d mse %.4f", epoch, step, loss.item())
            if step % 400 == 0:
                if saver:
                    saver.join()
                state = copy.deepcopy({"ema": ema.state_dict(), "model": model.state_dict(), "step": step})
                saver = threading.Thread(target=write, args=(state, Path("latest.pt")), name="saver")
                saver.start()


if __name__ == "__main__":
    main()
