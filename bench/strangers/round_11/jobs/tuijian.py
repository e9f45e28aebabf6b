"""推荐模型：两塔结构，DDP"""
import io
import logging
import lzma
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(12000, 32)
        self.item = nn.Embedding(8000, 32)
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, u, i):
        return self.mlp(torch.cat([self.user(u), self.item(i)], -1)).squeeze(-1)


def save(model, opt, step, log):
    buf = io.BytesIO()
    torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "step": step}, buf)
    with lzma.open("ckpt.tmp.xz", "wb", preset=6) as f:
        f.write(buf.getvalue())
    os.replace("ckpt.tmp.xz", "ckpt.pt.xz")
    log.info("已保存 step=%d 大小=%.1fMB", step, os.path.getsize("ckpt.pt.xz") / 1e6)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    log = logging.getLogger("rec")
    torch.manual_seed(0)
    taste = torch.randn(12000), torch.randn(8000)
    model = DDP(TwoTower())
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    torch.manual_seed(rank)
    for step in range(1, 100000):
        u, i = torch.randint(0, 12000, (4096,)), torch.randint(0, 8000, (4096,))
        y = (taste[0][u] + taste[1][i] + torch.randn(4096) > 0).float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(u, i), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            log.info("step %d 损失=%.4f", step, loss.item())
        if step % 100 == 0:
            if rank == 0:
                save(model, opt, step, log)
            dist.barrier()


if __name__ == "__main__":
    main()
