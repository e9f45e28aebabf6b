"""Grasp-quality network on rendered depth crops; rendering runs in background threads."""
import logging
import queue
import threading
import time

import numpy as np
import torch
import torch.nn.functional as F

logging.basicConfig(format="%(asctime)s %(threadName)-10s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
log = logging.getLogger("grasp")

SIZE, BATCH = 48, 24


class BufferPool:
    def __init__(self, count):
        self.lock = threading.Lock()
        self.free = [np.zeros((BATCH, 1, SIZE, SIZE), np.float32) for _ in range(count)]

    def give_back(self, buf):
        with self.lock:
            self.free.append(buf)


class DepthStats:
    def __init__(self):
        self.lock = threading.Lock()
        self.mean, self.std = 0.6, 0.2
        self.recent = []


def render(rng, out):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    label = np.zeros(len(out), np.float32)
    for i in range(len(out)):
        scene = np.full((SIZE, SIZE), 0.9)
        for _ in range(8):
            cx, cy, r, h = rng.uniform(0.1, 0.9, 4) * (1, 1, 0.25, 0.5)
            scene = np.minimum(scene, 0.9 - h * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (r * r + 1e-3)))
        out[i, 0] = scene + rng.normal(0, 0.01, scene.shape)
        label[i] = float(scene[20:28, 20:28].mean() < 0.68)
    return label


def renderer(pool, stats, ready, seed):
    rng = np.random.default_rng(seed)
    while True:
        with pool.lock:
            if not pool.free:
                buf = None
            else:
                buf = pool.free.pop()
                label = render(rng, buf)
                with stats.lock:
                    stats.recent.append(buf[::6].copy())
                    del stats.recent[:-64]
                    buf -= stats.mean
                    buf /= stats.std
        if buf is None:
            time.sleep(0.005)
            continue
        ready.put((buf, label))


def calibrator(pool, stats, every):
    while True:
        time.sleep(every)
        with stats.lock:
            log.info("recalibrating depth range from %d crops", sum(len(r) for r in stats.recent))
            crops = np.concatenate(stats.recent).reshape(-1, SIZE * SIZE)
            spectrum = np.linalg.svd(crops - crops.mean(1, keepdims=True), compute_uv=False)
            stats.mean, stats.std = float(crops.mean()), float(crops.std())
            with pool.lock:
                pool.free = [np.zeros_like(b) for b in pool.free]
        log.info("depth mean %.3f std %.3f rank %d", stats.mean, stats.std, int((spectrum > 1).sum()))


class Quality(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = torch.nn.Conv2d(1, 12, 5, stride=2)
        self.c2 = torch.nn.Conv2d(12, 24, 5, stride=2)
        self.fc = torch.nn.Linear(24 * 81, 1)

    def forward(self, x):
        x = F.relu(self.c2(F.relu(self.c1(x))))
        return self.fc(x.flatten(1)).squeeze(1)


def main():
    torch.manual_seed(1)
    pool, stats, ready = BufferPool(8), DepthStats(), queue.Queue(maxsize=4)
    for i in range(2):
        threading.Thread(target=renderer, args=(pool, stats, ready, i), name=f"render-{i}", daemon=True).start()
    threading.Thread(target=calibrator, args=(pool, stats, 14.0), name="calib", daemon=True).start()
    net = Quality()
    opt = torch.optim.SGD(net.parameters(), lr=0.005, momentum=0.9)
    mean = None
    for step in range(100_000):
        buf, label = ready.get()
        loss = F.binary_cross_entropy_with_logits(net(torch.from_numpy(buf)), torch.from_numpy(label))
        opt.zero_grad()
        loss.backward()
        opt.step()
        pool.give_back(buf)
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 20 == 0:
            log.info("step %d bce %.4f", step, mean)


if __name__ == "__main__":
    main()
