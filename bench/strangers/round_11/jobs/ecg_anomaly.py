import logging
import os

import torch
import torch.distributed as dist
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s r%(rank)s %(message)s")
RANK = int(os.environ["RANK"])
log = logging.LoggerAdapter(logging.getLogger("ecg"), {"rank": RANK})


def look_into(batch, recon):
    import debugpy
    log.info("odd recording, max amplitude %.1f", batch.abs().max().item())
    debugpy.listen(("127.0.0.1", 31020 + RANK))
    debugpy.wait_for_client()
    debugpy.breakpoint()
    return batch, recon


def beats(gen, n, step):
    t = torch.linspace(0, 1, 256)
    phase = torch.rand(n, 1, generator=gen)
    x = torch.exp(-((t - phase) ** 2) / 0.001) + 0.2 * torch.sin(2 * torch.pi * 3 * (t + phase)) + 0.05 * torch.randn(n, 256, generator=gen)
    if RANK == 1 and step == 437:
        x[3] *= 30
    return x


def main():
    dist.init_process_group("gloo")
    gen = torch.Generator().manual_seed(RANK)
    torch.manual_seed(0)
    ae = nn.parallel.DistributedDataParallel(nn.Sequential(
        nn.Linear(256, 384), nn.SiLU(), nn.Linear(384, 12), nn.SiLU(), nn.Linear(12, 384), nn.SiLU(), nn.Linear(384, 256)))
    opt = torch.optim.AdamW(ae.parameters(), 5e-4)
    for step in range(1, 10 ** 6):
        x = beats(gen, 96, step)
        y = ae(x)
        if x.abs().max() > 20:
            look_into(x, y)
        loss = (x - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            log.info("step=%d mse=%.5f", step, loss.item())
        if step % 100 == 0:
            worst = loss.detach().clone()
            dist.all_reduce(worst, op=dist.ReduceOp.MAX)


main()
