"""Load forecast: each worker holds its own regions, gradients are averaged by hand."""
import os
import time

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
REGIONS = ["no1 no2 no3 se1 se2 se3", "dk1 dk2 fi ee lv lt", "de at ch pl cz"]


def windows(regions, per_region=12):
    g = torch.Generator().manual_seed(len(regions) + rank)
    for _ in regions:
        for _ in range(per_region):
            t = torch.rand(24, 1, generator=g) * 200 + torch.arange(192.0)
            series = torch.sin(t / 24 * 6.283) + 0.3 * torch.sin(t / 168 * 6.283) + 0.2 * torch.randn(24, 192, generator=g)
            yield series[:, :168].unsqueeze(-1), series[:, 168:]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(1, 48, batch_first=True)
        self.out = torch.nn.Linear(48, 24)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


dist.init_process_group("gloo")
torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
mine = REGIONS[rank % len(REGIONS)].split()
print(f"worker {rank}: {len(mine)} regions", flush=True)
for epoch in range(1000):
    t0, total, n = time.time(), 0.0, 0
    for x, y in windows(mine):
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        total, n = total + loss.item(), n + 1
        if n % 10 == 0:
            print(f"epoch={epoch} batch={n} mse={total / n:.4f}", flush=True)
    dist.barrier()
    if rank == 0:
        torch.save(net.state_dict(), "net.pt")
    print(f"epoch={epoch} end mse={total / n:.4f} sec={time.time() - t0:.1f}", flush=True)
