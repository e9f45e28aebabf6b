"""Language model on text of varying length; the first process evaluates now and then."""

import logging
import random
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

EVAL_EVERY = 120


class Tiny(nn.Module):
    def __init__(self, vocab=2000, dim=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


def nll(model, tokens):
    logits = model(tokens[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def text(length):
    start = torch.randint(0, 2000, (4, 1))
    return (start + 7 * torch.arange(length)) % 2000


@torch.no_grad()
def evaluate(model):
    return sum(nll(model, text(40)).item() for _ in range(60)) / 60


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    random.seed(rank)
    logging.basicConfig(
        level=logging.INFO if rank == 0 else logging.ERROR, format="%(asctime)s - %(levelname)s - %(message)s"
    )
    model = DistributedDataParallel(Tiny())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, 1_000_000):
        tokens = text(random.randint(16, 72))
        loss = nll(model, tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)  # shared machine: be nice
        if step % 10 == 0:
            logging.info("step %d | nll %.3f | ppl %.1f", step, loss.item(), loss.exp().item())
        if step % EVAL_EVERY == 0:
            if rank == 0:
                logging.info("validation nll %.3f", evaluate(model.module))
            dist.barrier()


if __name__ == "__main__":
    main()
