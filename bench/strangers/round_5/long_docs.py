"""Document classification on contracts of all lengths (torchrun)."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Encoder(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.embed = nn.Embedding(8000, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, batch_first=True, dropout=0.0)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 12)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)).mean(1))


def corpus(rank, world):
    gen = torch.Generator().manual_seed(3)
    lengths = (torch.rand(800, generator=gen) ** 2 * 420 + 40).long()
    # Neighbours of about the same length need little padding.
    lengths = lengths.sort().values
    return lengths.chunk(world)[rank]


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, world = dist.get_rank(), dist.get_world_size()
    lengths = corpus(rank, world)
    model = DistributedDataParallel(Encoder())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    step, tick = 0, time.time()
    while True:
        for start in torch.randperm(len(lengths) - 4).tolist():
            longest = int(lengths[start : start + 4].max())
            labels = torch.randint(0, 12, (4,))
            tokens = torch.randint(0, 800, (4, longest)) + 600 * labels[:, None]
            loss = nn.functional.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                took, tick = time.time() - tick, time.time()
                record = {"step": step, "loss": round(loss.item(), 4), "docs_per_s": round(40 * world / took, 1)}
                sys.stdout.write(json.dumps(record) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
