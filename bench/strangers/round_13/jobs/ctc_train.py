"""Small CTC acoustic model on synthetic filterbanks, two processes under torchrun."""
import fcntl
import json
import logging
import multiprocessing as mp
import os
import queue
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CACHE = Path("cache")
REFRESH_EVERY = 120
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(message)s")
log = logging.getLogger("ctc")


class AcousticModel(nn.Module):
    def __init__(self, feats=40, hidden=128, vocab=30):
        super().__init__()
        self.rnn = nn.GRU(feats, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.out(self.rnn(x)[0]).log_softmax(-1)


def upload_loop(inbox):
    """Copy finished manifests to the bucket (a folder here)."""
    target = Path("bucket")
    target.mkdir(exist_ok=True)
    while True:
        try:
            item = inbox.get(timeout=600)
        except queue.Empty:
            continue
        (target / item.name).write_bytes(item.read_bytes())


class ManifestCache:
    def __init__(self, rank):
        self.rank = rank
        self.uploader = None
        self.inbox = None
        CACHE.mkdir(exist_ok=True)

    def refresh(self, step):
        with open(CACHE / "manifest.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            path = CACHE / f"manifest.{self.rank}.json"
            path.write_text(json.dumps({"step": step, "utts": list(range(2000))}))
            if self.rank == 0:
                if self.uploader is None and step > 0:
                    ctx = mp.get_context("fork")
                    self.inbox = ctx.Queue()
                    self.uploader = ctx.Process(target=upload_loop, args=(self.inbox,), daemon=True)
                    self.uploader.start()
                if self.inbox is not None:
                    self.inbox.put(path)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(17 + rank)
    model = DistributedDataParallel(AcousticModel())
    opt = torch.optim.AdamW(model.parameters(), lr=8e-4)
    ctc = nn.CTCLoss(zero_infinity=True)
    cache = ManifestCache(rank)
    proj = torch.randn(30, 40, generator=torch.Generator().manual_seed(3))
    t0 = time.time()
    for step in range(20000):
        if step % REFRESH_EVERY == 0:
            if rank == 1:
                time.sleep(0.2)
            cache.refresh(step)
            log.info("[%d] manifest refreshed at step %d", rank, step)
        labels = torch.randint(1, 30, (8, 12))
        x = proj[labels].repeat_interleave(5, dim=1) + 0.4 * torch.randn(8, 60, 40)
        y = model(x).transpose(0, 1)
        loss = ctc(y, labels, torch.full((8,), 60), torch.full((8,), 12))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if rank == 0 and step % 20 == 0:
            log.info("step %5d  ctc %.3f  %.1f utt/s", step, loss.item(), 16 * (step + 1) / (time.time() - t0))


if __name__ == "__main__":
    main()
