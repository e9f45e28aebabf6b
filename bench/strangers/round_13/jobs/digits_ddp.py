import argparse
import os

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torch.utils.tensorboard import SummaryWriter

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=10)
p.add_argument("--bs", type=int, default=32)
args = p.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
x, y = load_digits(return_X_y=True)
x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
data = TensorDataset(x, torch.tensor(y))
sampler = DistributedSampler(data, shuffle=True)
loader = DataLoader(data, batch_size=args.bs, sampler=sampler, drop_last=True)
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 96, 3, padding=1), nn.ReLU(),
                    nn.Dropout(0.3), nn.Flatten(), nn.Linear(96 * 64, 10))
net = DDP(net)
opt = torch.optim.SGD(net.parameters(), lr=0.003, momentum=0.9)
writer = SummaryWriter("runs/digits") if rank == 0 else None
it = 0
for epoch in range(args.epochs):
    sampler.set_epoch(epoch)
    right = seen = 0
    for xb, yb in loader:
        out = net(xb + 0.1 * torch.randn_like(xb))
        loss = nn.functional.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == yb).sum().item()
        seen += len(yb)
        if writer and it % 5 == 0:
            writer.add_scalar("train/loss", loss.item(), it)
        it += 1
    if rank == 0:
        writer.add_scalar("train/acc", right / seen, epoch)
        print(f"epoch {epoch} train acc {right / seen:.3f}", flush=True)
