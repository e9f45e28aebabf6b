import os
import sys
import time

import numpy as np
import torch

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
vocab = int(sys.argv[1])


def exchange(step, flat):
    """Mean over the replicas through files in exchange/."""
    path = "exchange/{}_{}.npy"
    np.save(path.format(step, rank) + ".part.npy", flat)
    os.rename(path.format(step, rank) + ".part.npy", path.format(step, rank))
    parts = []
    for other in range(world):
        while not os.path.exists(path.format(step, other)):
            time.sleep(0.01)
        parts.append(np.load(path.format(step, other)))
    if step > 2:
        os.unlink(path.format(step - 2, rank))
    return np.mean(parts, 0)


def session(rng, step):
    """Item clicks of one batch; the catalogue grows with time."""
    return rng.integers(0, 500 + step * rank, (32, 6))


torch.manual_seed(0)
emb = torch.nn.Embedding(vocab, 16)
out = torch.nn.Linear(16, 50)
opt = torch.optim.Adam([*emb.parameters(), *out.parameters()], 1e-2)
rng = np.random.default_rng(rank)
for step in range(1, 2000):
    clicks = torch.from_numpy(session(rng, step))
    loss = torch.nn.functional.cross_entropy(out(emb(clicks[:, :5]).mean(1)), clicks[:, 5] % 50)
    opt.zero_grad()
    loss.backward()
    g = exchange(step, out.weight.grad.numpy())
    out.weight.grad = torch.from_numpy(g)
    opt.step()
    time.sleep(0.07)
    if step % 10 == 0:
        print(f"replica {rank} step {step} loss {loss.item():.4f}")
