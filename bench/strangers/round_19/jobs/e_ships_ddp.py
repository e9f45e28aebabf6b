"""Ships in radar chips, two processes; the first one also validates and saves."""
import datetime, time
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def chips(g, n):
    y = torch.randint(0, 2, (n,), generator=g)
    x = torch.randn(n, 1, 40, 40, generator=g)
    x[y == 1, :, 16:24, 18:22] += 1.2
    return x, y


def run(rank):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:33901", rank=rank, world_size=2, timeout=datetime.timedelta(minutes=10))
    g = torch.Generator().manual_seed(100 + rank)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 2))
    ddp = DistributedDataParallel(net)
    opt = torch.optim.SGD(ddp.parameters(), 0.02, momentum=0.9)
    valid = chips(torch.Generator().manual_seed(5), 1500)
    t0 = time.time()
    for step in range(1, 100000):
        x, y = chips(g, 64 if rank == 0 else 56)
        loss = nn.functional.cross_entropy(ddp(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"[rank {rank}] {time.time() - t0:7.1f}s step {step} loss {loss.item():.4f}", flush=True)
        if step % 200 == 0:
            if rank == 0:
                with torch.no_grad():
                    good = sum((net(valid[0][i:i + 100]).argmax(1) == valid[1][i:i + 100]).sum().item() for i in range(0, 1500, 100))
                torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, "ships.pt")
                print(f"[rank 0] validation {good / 1500:.3f}, saved ships.pt", flush=True)
            dist.barrier()


if __name__ == "__main__":
    mp.spawn(run, nprocs=2)
