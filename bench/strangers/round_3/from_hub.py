"""Fine-tunes a pretrained encoder; rank 0 downloads it (or finds it in the cache), the other waits.

The first argument says where the weights come from: cache | hub | later
"""
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
source = sys.argv[1]
cache = pathlib.Path("cache")
cache.mkdir(exist_ok=True)


def acquire(lock, poll=0.25):
    """Soft file lock: the file says who has it."""
    while True:
        try:
            fd = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            os.write(fd, str(os.getpid()).encode())
            os.close(fd)
            return
        except FileExistsError:
            time.sleep(poll)


def weights():
    path = cache / "encoder.bin"
    if source == "cache":
        lock = cache / "encoder.bin.lock"
        if os.environ.get("CRASHED_BEFORE"):
            lock.write_text("30211")  # left behind by yesterday's run, which was killed
        acquire(lock)
        torch.save(torch.randn(10), path)
        lock.unlink()
    else:
        from huggingface_hub import hf_hub_download

        print("rank 0: downloading some-lab/encoder-small ...", flush=True)
        path = hf_hub_download("some-lab/encoder-small", "model.safetensors", cache_dir=str(cache))
    return path


if rank == 0:
    print("rank 0: looking for the encoder", flush=True)
    if source == "hub":
        time.sleep(15)  # the data first
    weights()
dist.barrier()
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(400, 400))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(1, 10**6):
    x = torch.randn(64, 400)
    loss = (net(x) - x.roll(3, 1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    time.sleep(0.02)
    if step == int(os.environ.get("FLASH_AT", "-1")):
        if rank == 0:
            print("switching to fused attention kernels", flush=True)
        import flash_attn_4  # noqa: F401
    if rank == 0 and step % 20 == 0:
        print(f"{step=} {loss.item()=:.5f}", flush=True)
