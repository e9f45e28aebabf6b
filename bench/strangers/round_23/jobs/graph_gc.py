import gc, random, time
import torch
from torch import nn
random.seed(4); torch.manual_seed(4)
class Atom:
    def __init__(self, z, q): self.z, self.q, self.bonds = z, q, []
class Mol:
    def __init__(self):
        self.atoms = [Atom(random.randrange(8), random.random()) for _ in range(random.randint(6, 14))]
        for a, b in zip(self.atoms, self.atoms[1:]):
            a.bonds.append(b); b.bonds.append(a)
        self.energy = sum(a.q * (a.z + 1) for a in self.atoms) / 20
    def features(self):
        f = [0.0] * 16
        for a in self.atoms:
            f[a.z] += a.q; f[8 + a.z] += len(a.bonds) / 4
        return f
print("building molecules", flush=True)
mols = [Mol() for _ in range(80000)]
net = nn.Sequential(nn.Linear(16, 128), nn.Tanh(), nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
n, tick = 0, time.time()
while True:
    batch = random.sample(mols, 64)
    x = torch.tensor([m.features() for m in batch]); y = torch.tensor([m.energy for m in batch])
    loss = (net(x)[:, 0] - y).square().mean()
    opt.zero_grad(); loss.backward(); opt.step(); n += 1
    del x, y, batch
    gc.collect()
    if n % 5 == 0:
        print(f"molnet: batch {n} mse {loss.item():.4f} ({(time.time() - tick) / 5 * 1000:.0f} ms/batch)", flush=True); tick = time.time()
