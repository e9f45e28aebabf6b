"""Fault: a loader worker reads through a reader that waits in D state: a vfork() whose child does not go on.

Symptom: dataloader-worker-stuck. Start: python.
"""

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)

READER = r"""
#include <unistd.h>
int read_shard(void) {
    if (vfork() == 0) {
        sleep(200);
        _exit(0);
    }
    return 0;
}
"""


class Shards(Dataset):
    def __init__(self):
        subprocess.run(
            ["gcc", "-O1", "-shared", "-fPIC", "-x", "c", "-o", "reader.so", "-"], input=READER.encode(), check=True
        )
        Path("shard.bin").write_bytes(bytes(1000))
        self.descriptor = os.open("shard.bin", os.O_RDONLY)

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        if i == 201:
            ctypes.CDLL("./reader.so").read_shard()
        time.sleep(0.01)
        return torch.randn(16)


def main():
    model = torch.nn.Linear(16, 1)
    for step, x in enumerate(DataLoader(Shards(), batch_size=8, num_workers=2), 1):
        model(x).pow(2).mean().backward()
        print(f"step {step} loss 0.1", flush=True)


if __name__ == "__main__":
    main()
