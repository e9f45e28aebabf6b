"""Keyword spotting on log-mel patches, data parallel over the local machine.

    torchrun --nproc_per_node 2 speech_kws.py
"""
import argparse
import logging
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

log = logging.getLogger("kws")


class KWSNet(nn.Module):
    def __init__(self, n_words):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 10 * 8, n_words)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


def synth(n, words, seed=0):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(words, 1, 40, 32, generator=g)
    y = torch.randint(0, words, (n,), generator=g)
    return TensorDataset(proto[y] + 5.0 * torch.randn(n, 1, 40, 32, generator=g), y)


def export_manifest(model, step, outdir):
    """Per-parameter listing for the model registry, gathered by the export script."""
    path = os.path.join(outdir, f"kws_{step:06d}.pt")
    torch.save(model.state_dict(), path)
    script = (
        "import sys, torch\n"
        "sd = torch.load(sys.argv[1])\n"
        "for k, v in sd.items():\n"
        "    for i, x in enumerate(v.flatten().tolist()):\n"
        "        print(k, i, '%.9f' % x)\n"
    )
    proc = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True)
    if proc.wait() != 0:
        raise RuntimeError("export failed")
    with open(path + ".manifest", "w") as f:
        f.write(proc.stdout.read())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--words", type=int, default=12)
    ap.add_argument("--epochs", type=int, default=500)
    ap.add_argument("--export-every", type=int, default=120)
    ap.add_argument("--out", default="exports")
    a = ap.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(
        level=logging.INFO if rank == 0 else logging.WARNING,
        format="%(asctime)s %(name)s[%(process)d] %(levelname)s: %(message)s",
    )
    torch.manual_seed(7)
    os.makedirs(a.out, exist_ok=True)
    ds = synth(4096, a.words)
    sampler = DistributedSampler(ds)
    dl = DataLoader(ds, batch_size=64, sampler=sampler)
    model = DDP(KWSNet(a.words))
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    step, t0 = 0, time.time()
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in dl:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 20 == 0:
                log.info("epoch %d step %d ce %.4f (%.1f it/s)", epoch, step, loss.item(), step / (time.time() - t0))
            if step % a.export_every == 0:
                if rank == 0:
                    log.info("exporting step %d", step)
                    export_manifest(model.module, step, a.out)
                dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
