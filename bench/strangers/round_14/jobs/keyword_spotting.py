"""Keyword spotting on 1 s clips. torchrun --nproc_per_node=3 keyword_spotting.py"""
import logging
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

RANK = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [r{RANK}] %(levelname)s %(message)s", stream=sys.stdout)
log = logging.getLogger("kws")

PROBE = r"""
import sys
shard, n = int(sys.argv[1]), 1400
bad = 0
for i in range(n):
    if shard == 1 and i > 150:
        bad += 1
        sys.stderr.write("warning: clip_%02d_%05d.wav: header says 16000 Hz, 22050 Hz found, resampling\n" % (shard, i))
    print("clip_%02d_%05d" % (shard, i)) if i % 40 == 0 else None
print("done", n - bad)
"""


def refresh_manifest(shard):
    """List the clips that can be used (new recordings arrive during the day)."""
    proc = subprocess.Popen([sys.executable, "-c", PROBE, str(shard)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    code = proc.wait()
    if code:
        raise RuntimeError(f"probe failed with {code}")
    return proc.stdout.read().decode().splitlines()


class Net(nn.Module):
    def __init__(self, classes=12):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(40, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Conv1d(64, 64, 5, padding=2), nn.BatchNorm1d(64), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.body(x).squeeze(-1))


def batch(generator, protos, size=32):
    y = torch.randint(0, 12, (size,), generator=generator)
    return protos[y] + 1.5 * torch.randn(size, 40, 98, generator=generator), y


def main():
    dist.init_process_group("gloo")
    protos = torch.randn(12, 40, 98, generator=torch.Generator().manual_seed(3))
    g = torch.Generator().manual_seed(100 + RANK)
    torch.manual_seed(0)
    net = DDP(Net())
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    crit = nn.CrossEntropyLoss(label_smoothing=0.1)
    log.info("starting, world=%d", dist.get_world_size())
    t0 = time.time()
    for it in range(1, 100000):
        x, y = batch(g, protos)
        opt.zero_grad()
        loss = crit(net(x), y)
        loss.backward()
        opt.step()
        if it % 10 == 0 and RANK == 0:
            log.info("iter %d loss %.4f (%.1f clips/s)", it, loss.item(), it * 96 / (time.time() - t0))
        if it % 150 == 0:
            names = refresh_manifest(RANK)
            log.info("manifest: %d entries", len(names))


main()
