"""Predicts torsion angles of peptides. Prints like an old Keras script."""
import sys
import time

import torch

torch.manual_seed(4)
PER_EPOCH, BATCH = 40, 64


def read_table(gap):
    """Backbone features; `gap` is a residue without a measured angle."""
    table = torch.randn(40000, 12)
    if gap:
        table[gap, 3] = float("nan")
    return table


table = read_table(int(sys.argv[1]))
net = torch.nn.Sequential(torch.nn.Linear(12, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), 4e-3)
row = 0
for epoch in range(1, 200):
    print(f"Epoch {epoch}/200")
    t0, total = time.time(), 0.0
    for i in range(1, PER_EPOCH + 1):
        x = table[row : row + BATCH]
        row = (row + BATCH) % (len(table) - BATCH)
        target = torch.stack([x[:, 0] + x[:, 1], x[:, 2] - x[:, 3], x[:, 4]], 1)
        loss = (1 - torch.nn.functional.cosine_similarity(net(x), target, dim=1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        time.sleep(0.06)
        bar = "=" * (30 * i // PER_EPOCH)
        print(f"\r{i:2d}/{PER_EPOCH} [{bar:.<30}] - {time.time() - t0:.0f}s {1e3 * (time.time() - t0) / i:.0f}ms/step - loss: {total / i:.4f}", end="", flush=True)
    print()
