"""River segmentation on satellite tiles, data parallel. Usage: torchrun --nproc_per_node N segment_ddp.py"""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torch.utils.tensorboard import SummaryWriter


class Tiles(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        low = torch.randn(1, 1, 6, 6, generator=g)
        mask = (nn.functional.interpolate(low, size=(48, 48), mode="bicubic")[0] > 0.4).float()
        img = mask * torch.rand(3, 1, 1, generator=g) + 0.5 * torch.randn(3, 48, 48, generator=g)
        return img, mask


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.u1 = block(3, 16), block(16, 32), block(48, 16)
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(nn.functional.max_pool2d(a, 2))
        b = nn.functional.interpolate(b, scale_factor=2)
        return self.head(self.u1(torch.cat([a, b], 1)))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    inter = torch.zeros(2)
    for x, m in loader:
        p = model(x) > 0
        inter += torch.tensor([(p & (m > 0)).sum(), (p | (m > 0)).sum()])
    dist.all_reduce(inter)
    model.train()
    return (inter[0] / inter[1].clamp(min=1)).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    train, val = Tiles(1280, 1), Tiles(256, 2)
    sampler = DistributedSampler(train, shuffle=True)
    loader = DataLoader(train, batch_size=16, sampler=sampler, num_workers=1, persistent_workers=True)
    vloader = DataLoader(val, batch_size=32, sampler=DistributedSampler(val, shuffle=False))
    net = Net()
    model = DDP(net)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 500)
    tb = SummaryWriter("runs/river") if rank == 0 else None
    step = 0
    for epoch in range(500):
        sampler.set_epoch(epoch)
        start = time.time()
        for x, m in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), m)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            step += 1
            if tb and step % 5 == 0:
                tb.add_scalar("train/loss", loss.item(), step)
        sched.step()
        iou = evaluate(net, vloader)
        if rank == 0:
            tb.add_scalar("val/iou", iou, epoch)
            torch.save({"model": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, "last.pt")
            print(f"epoch {epoch:3d} | {time.time() - start:5.1f}s | loss {loss.item():.4f} | IoU {iou:.3f}")


if __name__ == "__main__":
    main()
