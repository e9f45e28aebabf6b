"""Fault: the loader workers wait in read() on a pipe that a slow download fills.

Symptom: input-bound-io. Start: 2 ranks.
"""

import os
import signal
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, IterableDataset

signal.alarm(300)
torch.set_num_threads(1)
SHARD_BYTES = 32768


class StreamedShards(IterableDataset):
    def __init__(self, fifo):
        self.fifo = fifo

    def __iter__(self):
        with open(self.fifo, "rb", buffering=0) as stream:
            while True:
                yield torch.frombuffer(bytearray(self.read_exactly(stream)), dtype=torch.uint8)[:256] / 255

    def read_exactly(self, stream):
        data = b""
        while len(data) < SHARD_BYTES:
            data += stream.read(SHARD_BYTES - len(data))
        return data


def download(fifo):
    with open(fifo, "wb", buffering=0) as out:
        while True:
            time.sleep(0.4)
            out.write(os.urandom(SHARD_BYTES))


def main():
    dist.init_process_group("gloo")
    fifo = f"stream_{dist.get_rank()}"
    os.mkfifo(fifo)
    model = DDP(torch.nn.Linear(256, 1))
    optim = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = iter(DataLoader(StreamedShards(fifo), batch_size=1, num_workers=1))
    threading.Thread(target=download, args=(fifo,), daemon=True).start()
    for step, x in enumerate(batches, 1):
        loss = model(x).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        time.sleep(0.05)
        print(f"step {step} | loss {loss.item():.4f} | lr 1e-3", flush=True)


if __name__ == "__main__":
    main()
