import logging
import queue
import threading
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("landcover")


class SceneStore:
    """Scenes are read lazily and kept; access is guarded because the quicklook thread reads too."""

    def __init__(self, n, size=1400):
        self.n, self.size = n, size
        self.scenes = {}
        self.lock = threading.Lock()

    def _read(self, i):
        rng = np.random.default_rng(i)
        base = rng.normal(size=(self.size // 50, self.size // 50, 3))
        img = np.kron(base, np.ones((50, 50, 1)))
        return (np.clip(img * 40 + 128 + rng.normal(size=img.shape) * 12, 0, 255)).astype(np.uint8)

    def get(self, i):
        with self.lock:
            if i not in self.scenes:
                self.scenes[i] = self._read(i)
            return self.scenes[i]

    def mosaic(self, path):
        with self.lock:
            row = np.concatenate([self.scenes[i] for i in sorted(self.scenes)], axis=1)
            Image.fromarray(row).save(path, compress_level=9)


class Quicklook(threading.Thread):
    def __init__(self, store):
        super().__init__(daemon=True, name="quicklook")
        self.store, self.todo = store, queue.Queue()

    def run(self):
        while True:
            epoch = self.todo.get()
            t0 = time.time()
            self.store.mosaic(f"quicklook_{epoch:03d}.png")
            log.info("quicklook of epoch %d written in %.1f s", epoch, time.time() - t0)


class Tiles(Dataset):
    def __init__(self, store, n=640, size=64):
        self.store, self.n, self.size = store, n, size

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        rng = np.random.default_rng(k)
        scene = self.store.get(k % self.store.n)
        y, x = rng.integers(0, self.store.size - self.size, 2)
        tile = torch.from_numpy(scene[y:y + self.size, x:x + self.size].copy()).permute(2, 0, 1).float() / 255
        return tile, int(tile.mean(dim=(1, 2)).argmax())


def main():
    torch.manual_seed(0)
    store = SceneStore(5)
    for i in range(store.n):
        store.get(i)
    looks = Quicklook(store)
    looks.start()
    loader = DataLoader(Tiles(store), batch_size=32, shuffle=True, num_workers=2)
    net = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1), nn.ReLU(), nn.Conv2d(24, 48, 3, 2, 1), nn.ReLU(),
                        nn.Conv2d(48, 64, 3, 1, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 3))
    opt = torch.optim.AdamW(net.parameters(), 2e-3)
    for epoch in range(200):
        hit = seen = 0
        t0 = time.time()
        for step, (x, y) in enumerate(loader):
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hit += (out.argmax(1) == y).sum().item()
            seen += len(y)
            if step % 5 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        log.info("epoch %d finished: acc %.3f, %.1f tiles/s", epoch, hit / seen, seen / (time.time() - t0))
        looks.todo.put(epoch)


if __name__ == "__main__":
    main()
