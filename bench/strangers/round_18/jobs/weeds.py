"""Weed or crop, from the pictures that the field rover leaves in plots/ (raw 32x32x3)."""
import os
import time
from pathlib import Path

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def prepare(folder: Path):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(2400):
        kind = i % 2
        (folder / f"row{i:04d}_{kind}.raw").write_bytes(rng.integers(kind * 30, 200 + kind * 50, 3072, dtype="uint8").tobytes())
    if not (folder / "row1250_live_0.raw").exists():
        os.mkfifo(folder / "row1250_live_0.raw")  # where the rover's preview goes


class Plots(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.raw"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        file = self.files[i]
        image = np.frombuffer(file.read_bytes(), "uint8").reshape(3, 32, 32)
        time.sleep(0.003)
        return torch.from_numpy(image.astype("float32") / 255), int(file.stem[-1])


class Weeds(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
        self.net(torch.zeros(1, 3, 32, 32))

    def training_step(self, batch, i):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        time.sleep(0.15)
        if i % 10 == 0:
            print(f"INFO: epoch={self.current_epoch} batch={i} loss={loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


if __name__ == "__main__":
    prepare(Path("plots"))
    loader = DataLoader(Plots(Path("plots")), batch_size=16, num_workers=2, persistent_workers=True)
    L.Trainer(max_epochs=100, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
              enable_model_summary=False).fit(Weeds(), loader)
