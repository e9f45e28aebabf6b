"""Headline translation (word-piece level), data parallel on CPU."""
import datetime
import torch
import torch.distributed as dist
from torch import nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

VOCAB, LEN = 400, 14


class Translator(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.src, self.tgt = nn.Embedding(VOCAB, d), nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(torch.randn(LEN, d) * 0.02)
        self.body = nn.Transformer(d, 4, 2, 2, 128, dropout=0.0, batch_first=True)
        self.out = nn.Linear(d, VOCAB)

    def forward(self, s, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.shape[1])
        return self.out(self.body(self.src(s) + self.pos, self.tgt(t) + self.pos[:t.shape[1]], tgt_mask=mask))


def pairs(n, gen, table):
    s = torch.randint(2, VOCAB, (n, LEN), generator=gen)
    t = table[s].flip(1)
    return s, torch.cat([torch.ones(n, 1, dtype=torch.long), t[:, :-1]], 1), t


def average(model, world):
    grads = [p.grad for p in model.parameters()]
    flat = _flatten_dense_tensors(grads)
    dist.all_reduce(flat)
    for g, new in zip(grads, _unflatten_dense_tensors(flat / world, grads)):
        g.copy_(new)


@torch.no_grad()
def evaluate(model, table, rank, world):
    model.eval()
    gen = torch.Generator().manual_seed(99 + rank)
    s, t, y = pairs(256, gen, table)
    hits = (model(s, t).argmax(-1) == y).float().mean().reshape(1)
    everyone = [torch.zeros(1) for _ in range(world)]
    dist.all_gather(everyone, hits)
    model.train()
    return torch.cat(everyone).mean().item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Translator()
    table = torch.randperm(VOCAB, generator=torch.Generator().manual_seed(4))
    gen = torch.Generator().manual_seed(rank)
    opt = torch.optim.Adam(model.parameters(), 7e-4)
    best, stop = 0.0, torch.zeros(1)
    for step in range(1, 100_000):
        s, t, y = pairs(32, gen, table)
        loss = nn.functional.cross_entropy(model(s, t).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        average(model, world)
        opt.step()
        if rank == 0 and step % 20 == 0:
            now = datetime.datetime.now().isoformat(timespec="seconds")
            print(f"{now} INFO translate: update {step} nll {loss.item():.3f} ppl {loss.exp().item():.1f}")
        if step % 200 == 0:
            if rank == 0:
                print(f"{datetime.datetime.now().isoformat(timespec='seconds')} INFO translate: validating at {step}")
                accuracy = evaluate(model, table, rank, world)
                stop[0] = float(accuracy < best - 0.05)
                best = max(best, accuracy)
                print(f"accuracy {accuracy:.3f}")
            dist.broadcast(stop, 0)
            if stop.item():
                break


if __name__ == "__main__":
    main()
