"""手書き文字の認識。torchrun --nproc_per_node 2 kanji_ddp.py"""
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def data(n, seed):
    proto = torch.randn(20, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 20, (n,), generator=g)
    return TensorDataset(proto[y] * 0.15 + torch.randn(n, 1, 32, 32, generator=g), y)


def log(text):
    if dist.get_rank() == 0:
        print(time.strftime("%Y/%m/%d %H:%M:%S ") + text, flush=True)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 48, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(48 * 36, 20)
    )
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=20000)
    train = data(12800, 1)
    sampler = DistributedSampler(train, seed=2)
    loader = DataLoader(train, batch_size=32, sampler=sampler)
    held = data(1600, 2)
    val = DataLoader(held, batch_size=64, sampler=DistributedSampler(held, shuffle=False))
    step = 0
    for epoch in range(10**5):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x = x + 1.5 * torch.randn_like(x)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if step % 20 == 0:
                log(f"ステップ {step} 損失 {loss.item():.4f} 学習率 {sched.get_last_lr()[0]:.5f}")
        with torch.no_grad():
            hit = torch.zeros(2)
            for x, y in val:
                hit += torch.tensor([(net(x).argmax(1) == y).sum().item(), len(y)])
        dist.all_reduce(hit)
        log(f"エポック {epoch} 検証精度 {hit[0] / hit[1]:.3f}")
        if rank == 0:
            torch.save(net.state_dict(), "kanji.pt.tmp")
            os.replace("kanji.pt.tmp", "kanji.pt")
        dist.barrier()


if __name__ == "__main__":
    main()
