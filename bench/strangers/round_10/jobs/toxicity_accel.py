import os
import random

import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset

acc = Accelerator(cpu=True)


def drop_in(msg):
    """Let me look with VS Code when something odd shows up (launch.json: attach, 31140 + rank)."""
    if os.environ.get("ATTACH_ON_ODD", "0") != "1":
        return
    import debugpy

    debugpy.listen(("127.0.0.1", 31140 + acc.process_index))
    print(f"[{acc.process_index}] {msg}")
    debugpy.wait_for_client()
    debugpy.breakpoint()


class Comments(Dataset):
    def __init__(self, n=60000):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = random.Random(i)
        toks = [r.randrange(2, 5000) for _ in range(48)]
        label = float(sum(t < 900 for t in toks) > 9)
        if i % 4001 == 2000:
            toks = [0] * 48
        return torch.tensor(toks), torch.tensor(label)


class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5000, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(128, 1)

    def forward(self, x):
        return self.head(self.enc(self.emb(x)).mean(1)).squeeze(-1)


torch.manual_seed(42)
model = Clf()
opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
loader = DataLoader(Comments(), batch_size=16, shuffle=False)
model, opt, loader = acc.prepare(model, opt, loader)
lossf = nn.BCEWithLogitsLoss()
run = 0.0
for epoch in range(50):
    for step, (x, y) in enumerate(loader):
        if (x == 0).all(1).any():
            drop_in("empty comment in batch")
        loss = lossf(model(x), y)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        run = 0.95 * run + 0.05 * loss.item() if step else loss.item()
        if step % 25 == 0:
            acc.print(f"epoch {epoch} it {step}/{len(loader)} bce {run:.4f}")
