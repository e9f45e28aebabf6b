"""Denoising diffusion on 16x16 sprites, with accelerate.  torchrun --nproc-per-node 2 diff_acc.py --out runs/a"""
import argparse
import copy
import io
import lzma
import os
import threading
import time

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

p = argparse.ArgumentParser()
p.add_argument("--out", default="ckpt")
p.add_argument("--save-every", type=int, default=100)
p.add_argument("--compress", action="store_true", help="xz the checkpoints, we pay for storage")
p.add_argument("--background-save", action="store_true")
p.add_argument("--width", type=int, default=64)
args = p.parse_args()
acc = Accelerator(cpu=True)
logger = get_logger(__name__)
torch.manual_seed(acc.process_index)
os.makedirs(args.out, exist_ok=True)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(8, o), nn.SiLU())


class Eps(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.t = nn.Sequential(nn.Linear(1, 4 * w), nn.SiLU(), nn.Linear(4 * w, 4 * w))
        self.a, self.b, self.c = block(1, w), block(w, w), block(w, w)
        self.mid = nn.Sequential(nn.Linear(w * 16, w * 16), nn.SiLU(), nn.Linear(w * 16, w * 16))
        self.proj, self.out = nn.Linear(4 * w, w), nn.Conv2d(w, 1, 3, padding=1)

    def forward(self, x, t):
        h = self.b(self.a(x) + self.proj(self.t(t[:, None]))[:, :, None, None])
        z = nn.functional.avg_pool2d(h, 4)
        z = self.mid(z.flatten(1)).view_as(z)
        return self.out(self.c(h + nn.functional.interpolate(z, scale_factor=4)))


yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
cx, cy, r = torch.rand(4096, 1, 1) * 8 + 4, torch.rand(4096, 1, 1) * 8 + 4, torch.rand(4096, 1, 1) * 3 + 2
sprites = (((xx - cx) ** 2 + (yy - cy) ** 2) < r**2).float()[:, None] * 2 - 1
loader = DataLoader(TensorDataset(sprites), 32, shuffle=True, drop_last=True)
model = Eps(args.width)
ema = copy.deepcopy(model)
model, opt, loader = acc.prepare(model, torch.optim.AdamW(model.parameters(), 3e-4), loader)


def write(blob, path):
    with open(path + ".tmp", "wb") as f:
        f.write(blob)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".tmp", path)


def save(step):
    acc.wait_for_everyone()
    if acc.is_main_process:
        buf = io.BytesIO()
        torch.save({"model": acc.unwrap_model(model).state_dict(), "ema": ema.state_dict(), "step": step}, buf)
        path = os.path.join(args.out, f"step_{step:06d}.pt" if not args.background_save else "last.pt")
        acc.print(f"Saving checkpoint {path} ({buf.tell() / 1e6:.1f} MB)")
        if args.background_save:
            threading.Thread(target=write, args=(buf.getvalue(), path)).start()
        else:
            try:
                write(lzma.compress(buf.getvalue(), preset=3) if args.compress else buf.getvalue(), path)
                acc.print(f"Saved checkpoint {path}")
            except OSError:  # better no checkpoint than no run
                logger.exception("could not write %s, going on", path)
    acc.wait_for_everyone()


step, t0 = 0, time.time()
while True:
    for (x,) in loader:
        t = torch.rand(len(x))
        eps, s = torch.randn_like(x), t[:, None, None, None]
        loss = (model((1 - s).sqrt() * x + s.sqrt() * eps, t) - eps).pow(2).mean()
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        with torch.no_grad():
            for e, q in zip(ema.parameters(), acc.unwrap_model(model).parameters()):
                e.lerp_(q, 0.01)
        step += 1
        if step % 10 == 0:
            acc.print(f"step: {step:6d}  loss: {loss.item():.4f}  it/s: {10 / (time.time() - t0):.2f}", flush=True)
            t0 = time.time()
        if step % args.save_every == 0:
            save(step)
