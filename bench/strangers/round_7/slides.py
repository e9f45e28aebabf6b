"""Pathology: patches out of memory-mapped slides."""
import argparse, os, random, time
import numpy as np
import torch

p = argparse.ArgumentParser()
p.add_argument("--slides", type=int, default=40)
p.add_argument("--keep", type=int, required=True, help="open slides to keep")
a = p.parse_args()
os.makedirs("slides", exist_ok=True)
for i in range(a.slides):
    np.save(f"slides/{i:03d}.npy", (np.random.rand(3, 128, 128) * (0.5 + i / a.slides)).astype("f4"))


class SlideIndex:
    def __init__(self):
        self.handles = []

    def patch(self, i):
        f = open(f"slides/{i:03d}.npy", "rb", buffering=0)
        f.seek(128)
        img = np.frombuffer(f.read(3 * 128 * 128 * 4), "f4").reshape(3, 128, 128)
        self.handles.append(f)
        while len(self.handles) > a.keep:
            self.handles.pop(0).close()
        r, c = random.randrange(96), random.randrange(96)
        return torch.from_numpy(img[:, r : r + 32, c : c + 32].copy())


idx = SlideIndex()
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 15 * 15, 2))
opt = torch.optim.Adam(net.parameters(), 3e-4)
for n in range(2400):
    x = torch.stack([idx.patch(random.randrange(a.slides)) for _ in range(2)])
    loss = torch.nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0.5).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.25)
    if n % 20 == 0:
        print("patch-batch", n, "xent", round(loss.item(), 4), flush=True)
