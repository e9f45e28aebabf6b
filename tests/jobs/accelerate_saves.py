"""Fault: accelerate saves its whole state every six steps, to storage that takes half a second for each.

Symptom: checkpoint-stall. Start: python.
"""

import os
import signal
import time
from pathlib import Path

import torch
from accelerate import Accelerator

signal.alarm(300)
torch.set_num_threads(1)


class SlowFile:
    """A file on storage that is far away."""

    def __init__(self, path):
        self._file = open(path, "wb")  # noqa: SIM115

    def write(self, data):
        return self._file.write(data)

    def flush(self):
        time.sleep(0.5)
        self._file.flush()
        os.fsync(self._file.fileno())


def save_state(accelerator, model, optimizer, folder):
    Path(folder).mkdir(exist_ok=True)
    for name, part in (("model", accelerator.unwrap_model(model)), ("optimizer", optimizer)):
        with_flush = SlowFile(f"{folder}/{name}.bin")
        torch.save(part.state_dict(), with_flush)
        with_flush.flush()


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(128, 128)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    for step in range(1, 100_000):
        with accelerator.accumulate(model):
            loss = model(torch.randn(16, 128)).pow(2).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        time.sleep(0.12)
        if step % 6 == 0:
            save_state(accelerator, model, optimizer, f"checkpoint-{step % 2}")
        accelerator.print(f"[{step}/100000] train/loss={loss.item():.5f} | lr=1.00e-03")


if __name__ == "__main__":
    main()
