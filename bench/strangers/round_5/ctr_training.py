"""Ad click model with thorough bookkeeping of every step."""

import json
import os
import time
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


class History:
    """All metrics of the run, on disk after every step, so that a crash loses nothing."""

    def __init__(self, path):
        self.path = path
        self.rows = []

    def log_step(self, row, model):
        row["weights"] = {
            name: {"hist": torch.histc(p.detach(), 60).tolist(), "norm": p.norm().item()}
            for name, p in model.named_parameters()
        }
        self.rows = [*self.rows, row][-70:]
        temporary = self.path.with_suffix(".tmp")
        with temporary.open("w") as file:
            json.dump(self.rows, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(1000, 16) for _ in range(12))
        self.mlp = nn.Sequential(nn.Linear(192, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids):
        return self.mlp(torch.cat([table(ids[:, i]) for i, table in enumerate(self.tables)], 1)).squeeze(1)


def main():
    model, history = Wide(), History(Path("history.json"))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    for step in range(1, 1_000_000):
        ids = torch.randint(0, 1000, (2048, 12))
        clicks = (ids[:, 0] < 300).float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids), clicks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.log_step({"step": step, "loss": loss.item(), "time": time.time()}, model)
        if step % 10 == 0:
            print("step", step, "logloss", f"{loss.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
