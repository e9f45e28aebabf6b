"""Discharge at river gauges. The ranks own rivers of different length: DDP joins when one has no more batches."""

import logging
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join

RIVERS = {0: [900, 340, 260], 1: [800, 420, 330]}


class Series(torch.utils.data.Dataset):
    """Windows of one rank's rivers, in order of time."""

    def __init__(self, rank, window=64):
        g = torch.Generator().manual_seed(rank)
        self.window, self.parts = window, []
        for days in RIVERS[rank]:
            rain = torch.relu(torch.randn(20 * days, 6, generator=g))
            flow = torch.zeros(20 * days)
            for lag in range(1, 24):
                flow += torch.roll(rain.mean(1), lag) * 0.85**lag
            self.parts.append((rain, flow + 0.1 * torch.randn(flow.shape, generator=g)))
        self.at = [(p, s) for p, (rain, _) in enumerate(self.parts) for s in range(0, len(rain) - window, 4)]

    def __len__(self):
        return len(self.at)

    def __getitem__(self, i):
        part, start = self.at[i]
        rain, flow = self.parts[part]
        return rain[start : start + self.window], flow[start + self.window - 1]


class Discharge(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.rnn = nn.GRU(6, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, rain):
        return self.out(self.rnn(rain)[0][:, -1]).squeeze(1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(stream=sys.stdout, level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(Discharge())
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = torch.utils.data.DataLoader(Series(rank), batch_size=32, shuffle=True)
    logging.info("rank 0 has %d batches (host pid %d)", len(loader), os.getpid())
    seen = 0
    for epoch in range(500):
        mean = 0.0
        with Join([model]):
            for n, (rain, flow) in enumerate(loader, 1):
                loss = nn.functional.smooth_l1_loss(model(rain), flow)
                opt.zero_grad()
                loss.backward()
                opt.step()
                seen += 1
                mean += (loss.item() - mean) / min(n, 50)
                if n % 10 == 0:
                    logging.info("epoch %d %d/%d step %d huber %.4f", epoch, n, len(loader), seen, mean)
        dist.barrier()


if __name__ == "__main__":
    main()
