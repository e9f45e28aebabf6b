"""Masked language model on four processes (mp.spawn). Shards come from the feature store."""
import logging
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

BUG = os.environ.get("BUG", "")
WORLD = int(os.environ.get("N_PROC", "4"))


class ShardReader:
    def __init__(self, rank):
        self.rank, self.log = rank, logging.getLogger("shards")

    def _open(self, number):
        if BUG == "swallow" and self.rank == 2 and number >= 6:
            raise OSError(5, "Input/output error", f"/data/shards/{self.rank:02d}/{number:06d}.rec")
        g = torch.Generator().manual_seed(self.rank * 1000 + number)
        return (torch.randint(0, 500, (320, 1), generator=g) + torch.arange(24) * 7) % 500

    def read(self, number):
        while True:
            try:
                return self._open(number)
            except Exception:
                self.log.debug("could not read shard %d, again", number, exc_info=True)
                time.sleep(0.5)


def worker(rank, port):
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format=f"[%(asctime)s] [rank {rank}] %(name)s %(levelname)s: %(message)s")
    log = logging.getLogger("mlm")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Embedding(501, 64), torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), torch.nn.Linear(64, 500))
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.AdamW(ddp.parameters(), 1e-3)
    reader, step = ShardReader(rank), 0
    for number in range(10_000):
        shard = reader.read(number)
        for batch in shard.split(16):
            mask = torch.rand(batch.shape) < 0.15
            x = batch.masked_fill(mask, 500)
            out = ddp(x)
            loss = torch.nn.functional.cross_entropy(out[mask], batch[mask])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                log.info("step=%d loss=%.3f shard=%d", step, loss.item(), number)
        if BUG == "barrier" and number == 5 and rank == 0:
            log.info("saving best model")
            torch.save(net.state_dict(), "best.pt")
            dist.barrier()  # so that nobody reads a half-written file
        elif BUG != "barrier" and number % 5 == 4:
            if rank == 0:
                torch.save(net.state_dict(), "best.pt")
            dist.barrier()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(port,), nprocs=WORLD)
