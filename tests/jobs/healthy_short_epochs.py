"""Healthy: short epochs, each of which starts its loader workers anew and ends with a test.

Symptom: none. Start: python.
"""

import signal
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

signal.alarm(300)
torch.set_num_threads(1)


def main():
    data = TensorDataset(torch.randn(640, 32))
    model = torch.nn.Linear(32, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(1, 1000):
        started = time.time()
        for (x,) in DataLoader(data, batch_size=16, shuffle=True, num_workers=2):
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.1)
        print(
            f"Epoch {epoch}/1000 - {time.time() - started:.0f}s - loss: {loss.item():.4f} - val_loss: nan", flush=True
        )


main()
