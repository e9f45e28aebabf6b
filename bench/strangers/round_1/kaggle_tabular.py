# %% [markdown]
# # Store sales, MLP blend v7 (LB 0.412)
import threading, collections, re, time, os
import numpy as np, torch, torch.nn as nn
torch.set_num_threads(1)
SEED = 42
np.random.seed(SEED); torch.manual_seed(SEED)

# %% live leaderboard of features, in the background
STATS = collections.defaultdict(float)
ROWS = [f"store_{i%54}|family_{i%33}|promo={i%2}|oil={40+i%60}.{i%10}" for i in range(20000)]
def watch_features():
    while True:
        for r in ROWS:
            for k, v in re.findall(r"(\w+)=(\d+\.?\d*)", r):
                STATS[k] = 0.99 * STATS[k] + 0.01 * float(v)
if os.environ.get("LIVE_STATS"):
    for _ in range(int(os.environ["LIVE_STATS"])):
        threading.Thread(target=watch_features, daemon=True).start()

# %% model
class Blend(nn.Module):
    def __init__(self):
        super().__init__()
        self.cats = nn.ModuleList([nn.Embedding(60, 8) for _ in range(6)])
        self.mlp = nn.Sequential(nn.Linear(48 + 20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    def forward(self, c, x):
        e = [emb(c[:, i]) for i, emb in enumerate(self.cats)]
        return self.mlp(torch.cat(e + [x], 1))[:, 0]
C = torch.randint(0, 60, (50000, 6)); X = torch.randn(50000, 20); Y = X[:, 0] * 2 + C[:, 1] / 30 + 0.3 * torch.randn(50000)

# %% train
for fold in range(500):
    m = Blend(); opt = torch.optim.Adam(m.parameters(), 1e-3)
    order = torch.randperm(50000)
    t0 = time.time(); run = 0.0
    for b in range(0, 40000, 128):
        i = order[b:b+128]
        loss = ((m(C[i], X[i]) - Y[i]) ** 2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        run = 0.98 * run + 0.02 * loss.item() if b else loss.item()
        if b // 128 % 20 == 0:
            print(f"fold {fold} batch {b//128:4d} rmse {run ** 0.5:.4f}  [{time.time() - t0:.1f}s]", flush=True)
