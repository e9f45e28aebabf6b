import functools, time
import torch
from torch import nn
torch.manual_seed(0)
class Tower(nn.Module):
    def __init__(self):
        super().__init__(); self.p = nn.Linear(64, 256); self.o = nn.Linear(256, 1)
    @functools.lru_cache(maxsize=None)
    def lift(self, x): return torch.relu(self.p(x))
    def forward(self, x): return self.o(self.lift(x))[:, 0]
net = Tower(); opt = torch.optim.RMSprop(net.parameters(), 3e-4); w = torch.randn(64) / 8
t = time.time(); k = 0
while True:
    x = torch.randn(1024, 64); y = torch.tanh(x @ w) + .1 * torch.randn(1024)
    loss = (net(x) - y).square().mean(); opt.zero_grad(); loss.backward(); opt.step(); k += 1
    if k % 2 == 0:
        with torch.no_grad():
            best = torch.linalg.lstsq(torch.randn(3000, 160, dtype=torch.double), torch.randn(3000, 1, dtype=torch.double)).solution.norm()
    if k % 20 == 0:
        print({"k": k, "mse": round(loss.item(), 4), "probe": round(best.item(), 3), "s": round(time.time() - t, 1)}, flush=True)
