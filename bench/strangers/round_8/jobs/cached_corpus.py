"""Language model warm start: the tokenised corpus is cached by whoever comes first."""

import contextlib
import fcntl
import logging
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
RANK = dist.get_rank()
logging.basicConfig(level="INFO", format=f"%(asctime)s [{RANK}] %(name)s: %(message)s")
log = logging.getLogger("corpus")


@contextlib.contextmanager
def only_one(path):
    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def corpus():
    cache = Path("corpus.pt")
    if RANK != 0:
        time.sleep(1.0)  # let rank 0 go first
    log.info("asking for the cache")
    with only_one("corpus.lock"):
        if not cache.exists():
            log.info("tokenising 1200 documents")
            tokens = [hash((d, i)) % 500 for d in range(1200) for i in range(60)]
            torch.save(torch.tensor(tokens), cache)
            time.sleep(3)
            log.info("cache written, waiting for all ranks to see it")
        dist.barrier()
    return torch.load(cache)


def main():
    tokens = corpus()
    model = torch.nn.Sequential(torch.nn.Embedding(500, 32), torch.nn.Linear(32, 500))
    model = torch.nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.AdamW(model.parameters())
    for step in range(100000):
        at = torch.randint(0, len(tokens) - 1, (64,))
        loss = torch.nn.functional.cross_entropy(model(tokens[at]), tokens[at + 1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.info("step %d loss %.3f (pid %d)", step, loss.item(), os.getpid())


main()
