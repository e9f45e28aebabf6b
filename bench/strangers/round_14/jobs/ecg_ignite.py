import glob
import logging
import os

import numpy as np
import torch
from ignite.engine import Engine, Events
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("ecg")


class Shards(IterableDataset):
    def __init__(self, pattern):
        self.files = sorted(glob.glob(pattern))

    def __iter__(self):
        w = get_worker_info()
        for name in self.files[w.id::w.num_workers]:
            with open(name, "rb") as f:
                raw = np.frombuffer(f.read(), "float32").reshape(-1, 251)
            for row in raw:
                yield torch.tensor(row[:250]), torch.tensor(int(row[250]))


def prepare():
    os.makedirs("shards", exist_ok=True)
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6.28, 250)
    for k in range(60):
        if k == 41:
            os.mkfifo(f"shards/live_{k:03d}.bin")       # fed by the monitor bridge
            continue
        y = rng.integers(0, 4, 512)
        x = np.sin(t[None] * (1 + y[:, None])) + rng.normal(0, 2.5, (512, 250))
        np.concatenate([x, y[:, None]], 1).astype("float32").tofile(f"shards/live_{k:03d}.bin")


prepare()
net = torch.nn.Sequential(
    torch.nn.Unflatten(1, (1, 250)), torch.nn.Conv1d(1, 32, 9), torch.nn.ReLU(), torch.nn.Conv1d(32, 32, 9, 2),
    torch.nn.ReLU(), torch.nn.AdaptiveAvgPool1d(4), torch.nn.Flatten(), torch.nn.Linear(128, 4))
opt = torch.optim.AdamW(net.parameters(), 1e-3)


def step(engine, batch):
    x, y = batch
    loss = torch.nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


trainer = Engine(step)


@trainer.on(Events.ITERATION_COMPLETED(every=10))
def report(e):
    log.info("epoch %d iteration %d loss %.4f", e.state.epoch, e.state.iteration, e.state.output)


trainer.run(DataLoader(Shards("shards/*.bin"), batch_size=64, num_workers=2), max_epochs=500)
