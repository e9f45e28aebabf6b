"""Trainer with ignite; a second process judges every saved checkpoint on held-out data."""
import multiprocessing as mp
import os
import time
from pathlib import Path

import torch
from ignite.engine import Engine, Events
from ignite.handlers import Checkpoint, DiskSaver, PiecewiseLinear, ProgressBar, global_step_from_engine
from ignite.metrics import RunningAverage
from torch import nn
from torch.utils.data import DataLoader, Dataset

FOLDER = Path("models")


class Waves(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 1_000_003 + i)
        kind = i % 4
        t = torch.linspace(0, 1, 256)
        f = 3 + 20 * torch.rand(1, generator=g)
        wave = [torch.sin(6.28 * f * t), torch.sign(torch.sin(6.28 * f * t)), 2 * (f * t % 1) - 1, (f * t % 1 < 0.2) * 2.0 - 1][kind]
        return wave[None] + 0.8 * torch.randn(1, 256, generator=g), kind


def net():
    return nn.Sequential(nn.Conv1d(1, 48, 9, 2), nn.ReLU(), nn.Conv1d(48, 96, 9, 2), nn.ReLU(), nn.Conv1d(96, 48, 5), nn.ReLU(),
                         nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Dropout(0.2), nn.Linear(192, 4))


def judge():
    done, model = set(), net().eval()
    data = DataLoader(Waves(800, 2), 100)
    while True:
        for path in sorted(FOLDER.glob("*.pt"), key=os.path.getmtime):
            if path in done:
                continue
            done.add(path)
            try:
                model.load_state_dict(torch.load(path))
            except FileNotFoundError:
                continue
            with torch.no_grad():
                hits = sum((model(x).argmax(1) == y).sum().item() for x, y in data)
            print(f"[judge] {path.name}: {hits / 8:.1f}% held-out", flush=True)
        time.sleep(1)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    mp.get_context("spawn").Process(target=judge, daemon=True).start()
    torch.manual_seed(2)
    model = net()
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def update(engine, batch):
        model.train()
        x, y = batch
        loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    trainer = Engine(update)
    RunningAverage(output_transform=lambda v: v).attach(trainer, "loss")
    trainer.add_event_handler(Events.ITERATION_STARTED, PiecewiseLinear(opt, "lr", [(0, 0.001), (300, 0.03), (40000, 0.001)]))
    ProgressBar(persist=True).attach(trainer, ["loss"])
    trainer.add_event_handler(Events.ITERATION_COMPLETED(every=200), Checkpoint(
        {"model": model}, DiskSaver(str(FOLDER), require_empty=False), n_saved=3, global_step_transform=global_step_from_engine(trainer, Events.ITERATION_COMPLETED)))
    loader = DataLoader(Waves(12000, 1), 48, shuffle=True, num_workers=1, persistent_workers=True)
    trainer.run(loader, max_epochs=200)
