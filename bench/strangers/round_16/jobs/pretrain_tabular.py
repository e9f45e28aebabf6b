import hashlib
import logging
import shutil
import tarfile
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(message)s")
log = logging.getLogger("pretrain")

SAVE_EVERY = 25
OUT = Path("artifacts")


class MaskedTable(nn.Module):
    """Predict hidden cells of a row from the others."""

    def __init__(self, cols=64, dim=1024):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * cols, dim), nn.GELU(), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim), nn.GELU(), nn.Linear(dim, cols))

    def forward(self, x, mask):
        return self.net(torch.cat([x * (1 - mask), mask], -1))


def table(n=20000, cols=64):
    g = torch.Generator().manual_seed(11)
    z = torch.randn(n, 12, generator=g)
    return TensorDataset(torch.tanh(z @ torch.randn(12, cols, generator=g)) + 0.1 * torch.randn(n, cols, generator=g))


def export(accelerator, step):
    """State, packed for the registry, with its digest."""
    folder = OUT / f"step_{step:06d}"
    accelerator.save_state(str(folder))
    archive = OUT / f"step_{step:06d}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname=folder.name)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_suffix(".sha256").write_text(digest)
    shutil.rmtree(folder)
    for old in sorted(OUT.glob("*.tar.gz"))[:-1]:
        old.unlink()
    log.info("checkpoint %s (%.0f MB)", archive.name, archive.stat().st_size / 1e6)


def main():
    acc = Accelerator(cpu=True)
    OUT.mkdir(exist_ok=True)
    model = MaskedTable()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    model, opt, loader = acc.prepare(model, opt, DataLoader(table(), batch_size=128, shuffle=True, drop_last=True))
    step = 0
    for epoch in range(1000):
        for (x,) in loader:
            mask = (torch.rand_like(x) < 0.3).float()
            loss = (F.mse_loss(model(x, mask), x, reduction="none") * mask).sum() / mask.sum()
            opt.zero_grad()
            acc.backward(loss)
            opt.step()
            step += 1
            if step % 10 == 0:
                log.info("epoch %d step %d loss %.5f", epoch, step, loss.item())
            if step % SAVE_EVERY == 0:
                export(acc, step)


if __name__ == "__main__":
    main()
