"""Number plates: recognise the characters of a strip. Two processes, each with a thread that prepares batches."""

import logging
import queue
import threading
import time
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

ALPHABET = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
log = logging.getLogger("plates")


class Plates:
    """Strips drawn on the fly; the labels come from the annotation tool's export."""

    def __init__(self, rank, count=3200):
        rng = np.random.default_rng(rank)
        self.glyphs = np.random.default_rng(5).normal(size=(len(ALPHABET), 16, 8)).astype("float32")
        self.labels = ["".join(rng.choice(list(ALPHABET), 6)) for _ in range(count)]
        if rank == 1:
            self.labels[2210] = "BÖ-481"
        self.rng = rng

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        codes = [ALPHABET.index(c) for c in self.labels[i]]
        strip = np.concatenate([self.glyphs[c] for c in codes], axis=1)
        return strip + 1.5 * self.rng.normal(size=strip.shape).astype("float32"), codes


class Prefetcher:
    def __init__(self, data, size, ahead=4):
        self.data, self.size = data, size
        self.ready = queue.Queue(ahead)
        self.thread = threading.Thread(target=self.fill, name="prefetch", daemon=True)
        self.thread.start()

    def fill(self):
        try:
            while True:
                for at in range(0, len(self.data), self.size):
                    items = [self.data[i] for i in range(at, at + self.size)]
                    images = torch.from_numpy(np.stack([image for image, _ in items]))
                    self.ready.put((images.unsqueeze(1), torch.tensor([codes for _, codes in items])))
        except Exception:
            log.debug("prefetch ended", exc_info=True)

    def __next__(self):
        return self.ready.get()

    def __iter__(self):
        return self


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.head = nn.Linear(48 * 8 * 4, len(ALPHABET))

    def forward(self, x):
        cols = self.conv(x).unflatten(3, (6, 4)).permute(0, 3, 1, 2, 4).flatten(2)
        return self.head(cols)


def work(rank, world, address):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(levelname).1s rank{rank} %(message)s")
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=world, timeout=timedelta(hours=2))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(Reader())
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    seen = right = 0
    t0 = time.perf_counter()
    for step, (images, codes) in enumerate(Prefetcher(Plates(rank), 16), 1):
        logits = model(images)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), codes.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += int((logits.argmax(2) == codes).sum())
        seen += codes.numel()
        if step % 10 == 0:
            dt = (time.perf_counter() - t0) / 10
            log.info("step=%d loss=%.4f acc=%.3f %.0f ms", step, loss.item(), right / seen, 1000 * dt)
            seen = right = 0
            t0 = time.perf_counter()
        if step % 2000 == 0 and rank == 0:
            torch.save(model.state_dict(), "reader.pt")


if __name__ == "__main__":
    mp.spawn(work, args=(2, "tcp://127.0.0.1:30002"), nprocs=2)
