"""Segmentation of cell images. Trainer class, checkpoints, LR restarts, optional feature cache and torch.compile."""
import argparse
import dataclasses
import logging
import os
import pathlib
import time

import torch
from torch import nn

log = logging.getLogger("trainer")


@dataclasses.dataclass
class Config:
    epochs: int = 20000
    steps: int = 60
    batch: int = 6
    ckpt_dir: str = "checkpoints"
    ckpt_every: int = 1
    cache: bool = False
    compile: bool = False
    keep: int = 3
    report_s: float = 0.0
    mirror: str = ""
    mirror_every_s: float = 25.0


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = nn.Conv2d(1, 12, 3, 1, 1), nn.Conv2d(12, 24, 3, 2, 1)
        self.u1, self.out = nn.ConvTranspose2d(24, 12, 2, 2), nn.Conv2d(24, 2, 1)

    def forward(self, x):
        a = torch.relu(self.d1(x))
        b = torch.relu(self.d2(a))
        return self.out(torch.cat([a, torch.relu(self.u1(b))], 1))


class Trainer:
    def __init__(self, cfg):
        self.cfg, self.net, self.cache = cfg, Unet(), {}
        self.opt = torch.optim.AdamW(self.net.parameters(), 2e-3)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(self.opt, 3 * cfg.steps)
        self.fwd = torch.compile(self.net, dynamic=False) if cfg.compile else self.net
        self.last_report = 0.0
        self.mirrored = time.time()

    def sample(self, i):
        if i in self.cache:
            return self.cache[i]
        g = torch.Generator().manual_seed(i)
        img = torch.randn(self.cfg.batch, 1, 48, 48, generator=g)
        if self.cfg.cache:  # distance transform, done once
            for _ in range(60):
                img = nn.functional.avg_pool2d(img, 3, 1, 1) + 0.01 * torch.randn(img.shape, generator=g)
            time.sleep(0.15)  # cold storage
        mask = (nn.functional.avg_pool2d(img, 5, 1, 2) > 0).long()[:, 0]
        if self.cfg.cache:
            self.cache[i] = img, mask
        return img, mask

    def save(self, epoch):
        d = pathlib.Path(self.cfg.ckpt_dir)
        d.mkdir(parents=True, exist_ok=True)
        tmp = d / f"epoch{epoch:04d}.tmp"
        with open(tmp, "wb") as f:
            torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "pad": torch.randn(300_000)}, f)
            f.flush()
            os.fsync(f.fileno())
        if self.cfg.mirror and time.time() - self.mirrored > self.cfg.mirror_every_s:
            self.mirrored = time.time()
            with open(self.cfg.mirror, "wb") as f:  # second copy on the project volume
                f.write(tmp.read_bytes())
        tmp.rename(d / f"epoch{epoch:04d}.pt")
        for old in sorted(d.glob("*.pt"))[: -self.cfg.keep]:
            old.unlink()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            for i in range(self.cfg.steps):
                x, y = self.sample(i)
                loss = nn.functional.cross_entropy(self.fwd(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.sched.step()
                if time.time() - self.last_report >= self.cfg.report_s and i % 10 == 0:
                    log.info("epoch %d/%d | batch %d/%d | dice_loss %.4f | lr %.2e", epoch, self.cfg.epochs, i, self.cfg.steps, loss.item(), self.sched.get_last_lr()[0])
                    self.last_report = time.time()
            if epoch % self.cfg.ckpt_every == self.cfg.ckpt_every - 1:
                self.save(epoch)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(asctime)s - %(name)s - %(message)s")
    ap = argparse.ArgumentParser()
    for f in dataclasses.fields(Config):
        if f.type in (bool, "bool"):
            ap.add_argument("--" + f.name.replace("_", "-"), action="store_true")
        else:
            ap.add_argument("--" + f.name.replace("_", "-"), type=type(f.default), default=f.default)
    torch.set_num_threads(1)
    Trainer(Config(**vars(ap.parse_args()))).fit()
