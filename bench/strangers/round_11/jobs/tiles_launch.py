"""Land cover tiles: start one trainer per core."""
import os
import subprocess
import sys
import time
from pathlib import Path

from filelock import FileLock

CACHE = Path("tilecache")


def thumbs():
    with FileLock(CACHE / "index.lock"):
        (CACHE / "thumbs.ready").touch()
        while not (CACHE / "thumbs.done").exists():
            time.sleep(1.0)


def shard_index(rank):
    index = CACHE / f"index{rank}.txt"
    if not index.exists():
        with FileLock(CACHE / "index.lock"):
            index.write_text("\n".join(f"tile_{i:06d}" for i in range(rank, 5000, 2)))
    return index.read_text().split()


def train(rank, world):
    import torch
    import torch.distributed as dist
    print(f"{time.strftime('%H:%M:%S')} trainer {rank}: torch {torch.__version__}", flush=True)
    tiles = shard_index(rank)
    print(f"{time.strftime('%H:%M:%S')} trainer {rank}: {len(tiles)} tiles, joining the group", flush=True)
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:31004", rank=rank, world_size=world)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Conv2d(4, 8, 3))
    opt = torch.optim.SGD(net.parameters(), 0.01)
    for step in range(10 ** 6):
        loss = net(torch.randn(8, 4, 64, 64)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"trainer {rank}: step {step} loss {loss.item():.4f}", flush=True)


def main():
    if len(sys.argv) > 1:
        return thumbs() if sys.argv[1] == "thumbs" else train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    CACHE.mkdir(exist_ok=True)
    (CACHE / "index0.txt").write_text("\n".join(f"tile_{i:06d}" for i in range(0, 5000, 2)))
    me = [sys.executable, __file__]
    subprocess.Popen([*me, "thumbs"])
    while not (CACHE / "thumbs.ready").exists():
        time.sleep(0.1)
    procs = [subprocess.Popen([*me, "train"], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": "2"}) for r in range(2)]
    sys.exit(max(p.wait() for p in procs))


main()
