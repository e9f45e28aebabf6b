"""Healthy: does a little of everything that can be too much. Compiles once, logs and reads the loss each step, saves a small
checkpoint every 5 s, collects garbage every 200 steps, keeps 30 idle threads and loader workers that end with each epoch.

Symptom: none. Start: python.
"""

import gc
import signal
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Rows(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, i):
        return torch.full((64,), i / 800)


def save_checkpoint(model, path):
    for _ in range(5):
        torch.save(model.state_dict(), path)
        time.sleep(0.08)


def main():
    for k in range(30):
        threading.Thread(target=threading.Event().wait, name=f"idle-{k}", daemon=True).start()
    layers = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 1))
    model = torch.compile(layers, backend="aot_eager")
    optimizer = torch.optim.AdamW(layers.parameters(), lr=1e-3)
    step, saved_s = 0, time.monotonic()
    for epoch in range(100_000):
        for x in DataLoader(Rows(), batch_size=8, num_workers=1):
            step += 1
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.04)
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
            if step % 200 == 0:
                gc.collect()
            if time.monotonic() - saved_s > 5:
                save_checkpoint(layers, "last.pt")
                saved_s = time.monotonic()


if __name__ == "__main__":
    main()
