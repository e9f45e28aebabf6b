# %% [markdown]
# Land use from satellite tiles, exported from the notebook

# %%
import atexit
import random
import subprocess
import sys
import time
from pathlib import Path

import requests
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
PORT = random.randint(20_000, 45_000)
store = subprocess.Popen([sys.executable, str(Path(__file__).with_name("store.py")), str(PORT)])
atexit.register(store.kill)
time.sleep(1)

# %%
session = requests.Session()


class Tiles(Dataset):
    def __len__(self):
        return 12_000

    def __getitem__(self, i):
        data = session.get(f"http://127.0.0.1:{PORT}/tiles/{i}.raw", timeout=10).content
        tile = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(3, 64, 64).float() / 255
        return tile, i % 6


# %%
model = nn.Sequential(
    nn.Conv2d(3, 32, 3, stride=2, padding=1),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.Conv2d(32, 64, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(4),
    nn.Flatten(),
    nn.Linear(1024, 6),
)
optim = torch.optim.AdamW(model.parameters(), 3e-4)
loader = DataLoader(Tiles(), batch_size=16, shuffle=True)

# %%
running = None
for it, (x, y) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(x), y)
    optim.zero_grad()
    loss.backward()
    optim.step()
    running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
    print("it", it, "loss", round(running, 4), flush=True)
