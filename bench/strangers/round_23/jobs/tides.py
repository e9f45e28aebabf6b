import glob, os
import numpy as np, torch
from torch import nn

def prepare(root="gauges", n=64):
    os.makedirs(root, exist_ok=True)
    g = np.random.default_rng(3)
    for i in range(n):
        t = np.arange(20000) / 60
        x = np.sin(t / 12.4 + i) + .3 * np.sin(t / 24.8) + .05 * g.normal(size=t.size)
        np.save(f"{root}/g{i:03d}.npy", x.astype(np.float32))
    return sorted(glob.glob(f"{root}/*.npy"))

class Windows:
    def __init__(self, files, length=256):
        self.files, self.length, self.index = files, length, []
    def draw(self, n, g):
        out = []
        series = np.load(self.files[g.integers(len(self.files))], mmap_mode="r")
        for s in g.integers(0, len(series) - self.length - 1, n):
            w = series[s:s + self.length + 1]
            out.append(w)
        self.index.append((len(self.index), out[0]))
        return torch.from_numpy(np.stack(out))

files = prepare()
data, g = Windows(files), np.random.default_rng(0)
net = nn.GRU(1, 96, batch_first=True); head = nn.Linear(96, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], 1e-3)
for it in range(1, 10**7):
    b = data.draw(32, g)
    h, _ = net(b[:, :-1, None])
    loss = (head(h)[..., 0] - b[:, 1:]).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 10 == 0:
        print(f"iter {it:6d}  mse {loss.item():.5f}", flush=True)
