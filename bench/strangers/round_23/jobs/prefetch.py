import os, queue, threading
import numpy as np, torch
from torch import nn
g = np.random.default_rng(1)
os.makedirs("spectra", exist_ok=True)
for i in range(900):
    c = g.integers(0, 6); s = g.normal(size=200) * .3; s[c * 30:c * 30 + 25] += 1
    np.savetxt(f"spectra/{i:04d}_{c}.csv", s[None] if i != 871 else s[None, :190], "%.3f", ",")
names = sorted(os.listdir("spectra")); todo, done = queue.Queue(), queue.Queue(8)
for ep in range(200):
    for i in range(0, 900, 30): todo.put(names[i:i + 30])
def reader():
    while True:
        part = todo.get()
        x = [np.loadtxt(f"spectra/{n}", delimiter=",", dtype="f4") for n in part]
        done.put((torch.from_numpy(np.stack(x)), torch.tensor([int(n[5]) for n in part])))
def quiet(args): pass
threading.excepthook = quiet
for _ in range(2): threading.Thread(target=reader, daemon=True).start()
net = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, 6)); opt = torch.optim.SGD(net.parameters(), .02)
step = 0
while step < 6000:
    x, y = done.get(); loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step(); step += 1
    print(f"{step:5d} xent {loss.item():.4f}", flush=True)
