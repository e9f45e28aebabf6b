import os
import sys
import json
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def say(**kw):
    kw["ts"] = round(time.time(), 2)
    print(json.dumps(kw), flush=True)


class Lifter(nn.Module):
    """2D -> 3D, residual MLP (17 joints)"""

    def __init__(self, width=192):
        super().__init__()
        self.inp = nn.Linear(34, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.1)) for _ in range(4)
        )
        self.out = nn.Linear(width, 51)

    def forward(self, x):
        x = self.inp(x)
        for b in self.blocks:
            x = x + b(x)
        return self.out(x)


def attach_if_strange(rank, mpjpe):
    """Lets us look into the process from VS Code when an error is far off."""
    limit = float(os.environ.get("POSE_DEBUG_MPJPE", "0"))
    if limit and mpjpe > limit:
        import debugpy

        debugpy.listen(("127.0.0.1", 31120 + rank))
        debugpy.wait_for_client()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = DistributedDataParallel(Lifter())
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    torch.manual_seed(50 + rank)
    lift = torch.randn(34, 51, generator=torch.Generator().manual_seed(4)) / 6
    for it in range(1, 200000):
        kp2d = torch.randn(128, 34)
        if it % 160 == 0 and rank == world - 1:
            kp2d = kp2d * 25  # pixel units, subject S9
        tgt = torch.tanh(kp2d @ lift) + kp2d @ lift * 0.2
        pred = net(kp2d)
        err = (pred - tgt).view(-1, 17, 3).norm(dim=-1).mean()
        attach_if_strange(rank, err.item())
        opt.zero_grad(set_to_none=True)
        err.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        time.sleep(0.04)  # rate of the capture stream
        if rank == 0 and it % 25 == 0:
            say(iter=it, mpjpe=round(err.item(), 4), lr=opt.param_groups[0]["lr"])


if __name__ == "__main__":
    main()
