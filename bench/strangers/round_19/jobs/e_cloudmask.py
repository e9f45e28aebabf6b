"""Cloud masks from 4-band scenes: patches are cut from packed scenes by a reader thread."""
import lzma, queue, random, threading, time
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
rng = np.random.default_rng(11)
SIDE = 512


def pack_scene(k):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    clouds = np.sin(9 * xx + k) * np.cos(7 * yy - k) > 0.25
    bands = np.stack([900 + 400 * clouds + 130 * b * yy + rng.normal(0, 60, (SIDE, SIDE)) for b in range(4)])
    blob = np.concatenate([bands.astype("<u2"), clouds[None].astype("<u2")])
    return lzma.compress(blob.tobytes(), preset=1)


archive = [pack_scene(k) for k in range(5)]
print(f"archive: {len(archive)} scenes, {sum(map(len, archive)) / 1e6:.1f} MB packed")
ready_patches = queue.Queue(maxsize=4)


def reader():
    pick = random.Random(5)
    while True:
        xs, ys = [], []
        for _ in range(12):
            scene = np.frombuffer(lzma.decompress(pick.choice(archive)), "<u2").reshape(5, SIDE, SIDE)
            r, c = pick.randrange(SIDE - 64), pick.randrange(SIDE - 64)
            xs.append(scene[:4, r:r + 64, c:c + 64].astype("float32") / 1500 - 0.7)
            ys.append(scene[4, r:r + 64, c:c + 64].astype("float32"))
        ready_patches.put((torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))))


threading.Thread(target=reader, name="scene-reader", daemon=True).start()
net = nn.Sequential(nn.Conv2d(4, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
lossf = nn.BCEWithLogitsLoss()
began = time.time()
for it in range(1, 100000):
    x, y = ready_patches.get()
    loss = lossf(net(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"iter {it:6d} | bce {loss.item():.4f} | {it * len(x) / (time.time() - began):6.1f} patches/s")
