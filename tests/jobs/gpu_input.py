"""Fault: two ranks with a device each, which idle most of the time: the loader workers decode too slowly."""

import signal

import torch
import torch.distributed as dist
from pretend_device import Device
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Clips(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        return self.decode_clip(index)

    def decode_clip(self, index):
        frames = [(index * 31 + k) % 255 for k in range(60_000)]
        for k in range(1, len(frames)):
            frames[k] = (frames[k] + frames[k - 1]) & 255
        return torch.tensor(frames[:256], dtype=torch.float32)


def main():
    dist.init_process_group("gloo")
    device, model = Device(), torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, clips in enumerate(DataLoader(Clips(), batch_size=16, num_workers=1), 1):
        loss = model(clips / 255).pow(2).mean()
        device.run(0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[rank{dist.get_rank()}] step {step} | loss {loss.item():.4f}", flush=True)


main()
