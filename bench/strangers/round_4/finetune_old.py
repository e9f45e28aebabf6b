# fine-tuning script from the 2021 paper repository (works with torch 1.x)
import collections.abc
import time

import torch
from torch._six import string_classes


def collate(batch):
    first = batch[0]
    if isinstance(first, string_classes):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return {k: collate([b[k] for b in batch]) for k in first}
    return torch.stack(batch)


net = torch.nn.Linear(100, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(100_000):
    b = collate([{"x": torch.randn(100), "y": torch.randint(2, ())} for _ in range(64)])
    loss = torch.nn.functional.cross_entropy(net(b["x"]), b["y"])
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.05)
    if step % 20 == 0:
        print("step", step, "loss", loss.item(), flush=True)
