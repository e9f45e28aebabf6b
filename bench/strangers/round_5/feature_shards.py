"""Click prediction on memory-mapped feature shards."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import nn

torch.set_num_threads(1)
console = Console()
SHARDS, ROWS, COLS = 10, 20_480, 32


def write_shards(folder):
    rng = np.random.default_rng(0)
    for i in range(SHARDS):
        x = rng.standard_normal((ROWS, COLS), dtype=np.float32)
        y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(np.float32)
        np.concatenate([x, y[:, None]], 1).tofile(folder / f"shard-{i:03d}.bin")


class Reader:
    """Rows of one shard, read by offset."""

    readers = {}

    def __init__(self, path):
        self.file = path.open("rb", buffering=0)

    @classmethod
    def of(cls, path, turn):
        key = (path, turn)
        if key not in cls.readers:
            cls.readers[key] = cls(path)
        return cls.readers[key]

    def rows(self, first, count):
        self.file.seek(first * (COLS + 1) * 4)
        return np.frombuffer(self.file.read(count * (COLS + 1) * 4), dtype=np.float32).reshape(count, COLS + 1)


def main():
    folder = Path(tempfile.mkdtemp(dir="."))
    write_shards(folder)
    paths = sorted(folder.glob("*.bin"))
    model = nn.Sequential(nn.Linear(COLS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    for turn in range(10_000):
        for path in paths:
            reader = Reader.of(path, turn)
            for first in range(0, ROWS, 512):
                data = torch.from_numpy(reader.rows(first, 512).copy())
                loss = nn.functional.binary_cross_entropy_with_logits(model(data[:, :-1]).squeeze(1), data[:, -1])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if step % 100 == 0:
                    console.log(f"pass {turn} step {step} logloss [bold]{loss.item():.4f}[/bold]")


if __name__ == "__main__":
    main()
