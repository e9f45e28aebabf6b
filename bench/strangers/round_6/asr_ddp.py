"""Speech command recognition, data parallel. Log-mel features are built once per epoch and cached."""

import fcntl
import logging
import os
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("asr")
SYNC = os.environ.get("SYNC_CACHE") == "1"


def start_sync(folder: str) -> None:
    """Mirror the finished cache to the archive in the background."""
    subprocess.Popen(["sh", "-c", f"while true; do ls {folder} > synced.txt; sleep 20; done"], close_fds=False)


def build_features(epoch: int, rank: int) -> str:
    Path("cache").mkdir(exist_ok=True)
    path = f"cache/epoch{epoch}.pt"
    fd = os.open(f"cache/epoch{epoch}.lock", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(fd, True)
    fcntl.flock(fd, fcntl.LOCK_EX)
    if not os.path.exists(path):
        log.info("rank %d: computing features for epoch %d", rank, epoch)
        parts = []
        for _ in range(24):
            wave = torch.randn(16, 16000)
            spec = torch.stft(wave, 400, 320, window=torch.hann_window(400), return_complex=True).abs()
            parts.append(spec.log1p().mean(2))
            time.sleep(0.08)
        torch.save(torch.cat(parts), path)
        if SYNC and epoch == 2:
            start_sync("cache")
    os.close(fd)
    return path


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    rank = dist.get_rank()
    net = DistributedDataParallel(nn.Sequential(nn.Linear(201, 256), nn.ReLU(), nn.Linear(256, 35)))
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    teacher = torch.randn(201, 35, generator=torch.Generator().manual_seed(1))
    step = 0
    for epoch in range(1, 1000):
        if rank == 1:
            time.sleep(0.3)
        feats = torch.load(build_features(epoch, rank))
        for start in range(0, 384 * 3, 16):
            x = feats[start % 384 : start % 384 + 16]
            x = (x - x.mean()) / x.std() + 0.1 * torch.randn_like(x)
            loss = nn.functional.cross_entropy(net(x), (x @ teacher).argmax(1))
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            time.sleep(0.06)
            if rank == 0 and step % 10 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
