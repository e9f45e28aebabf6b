"""街拍服饰分类，两进程 DDP 训练。"""
import logging
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%m-%d %H:%M:%S")


class Clothes(Dataset):
    def __init__(self, n, seed, noise=0.0):
        self.noise = noise
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 8, (n,), generator=g)
        proto = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
        self.x = proto[self.y] * 0.14 + torch.randn(n, 3, 32, 32, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i] + self.noise * torch.randn(3, 32, 32), self.y[i]


def net():
    layers, c = [], 3
    for width in (16, 32, 64):
        layers += [nn.Conv2d(c, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
        c = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 16, 8))


def evaluate(model, loader):
    model.eval()
    good = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            good += torch.tensor([(model(x).argmax(1) == y).sum().item(), len(y)])
    dist.all_reduce(good)
    model.train()
    return (good[0] / good[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    log = logging.getLogger().info if rank == 0 else (lambda *a: None)
    torch.manual_seed(7)
    train, test = Clothes(5000, 1, noise=1.0), Clothes(800, 2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 32, sampler=sampler, drop_last=True)
    test_loader = DataLoader(test, 100, sampler=DistributedSampler(test, shuffle=False))
    model = DistributedDataParallel(net())
    opt = torch.optim.SGD(model.parameters(), 0.004, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 200))
    step = 0
    for epoch in range(1000):
        sampler.set_epoch(epoch)
        t0 = time.time()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if step % 20 == 0:
                log("轮次 %d 步 %d 损失 %.4f 学习率 %.5f", epoch, step, loss.item(), sched.get_last_lr()[0])
        log("轮次 %d 用时 %.1f 秒 测试准确率 %.3f", epoch, time.time() - t0, evaluate(model.module, test_loader))
        if epoch % 2 == 0:
            if rank == 0:
                os.makedirs("ckpt", exist_ok=True)
                torch.save({"model": model.module.state_dict(), "step": step}, "ckpt/last.pt")
            dist.barrier()


if __name__ == "__main__":
    main()
