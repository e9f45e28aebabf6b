"""Character model on two ranks, with a shared validation every so often."""

import argparse
import logging
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

log = logging.getLogger("charlm")


class CharModel(nn.Module):
    def __init__(self, vocab: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.cell(self.table(x))
        return self.out(hidden)


def make_text(length: int, vocab: int) -> torch.Tensor:
    gen = torch.Generator().manual_seed(7)
    follow = torch.softmax(2.5 * torch.randn(vocab, vocab, generator=gen), dim=1)
    text = [0]
    for _ in range(length - 1):
        text.append(int(torch.multinomial(follow[text[-1]], 1, generator=gen)))
    return torch.tensor(text)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=20000)
    ap.add_argument("--lr", type=float, default=3e-4)
    ap.add_argument("--val-every", type=int, default=60)
    ap.add_argument("--breathe", type=float, default=0.1, help="seconds left to the other users of this box per step")
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{rank} %(levelname)s %(message)s")
    torch.manual_seed(rank)
    text = make_text(8000, 40)
    model = DistributedDataParallel(CharModel(40, 64))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    crit = nn.CrossEntropyLoss()

    def batch(lo: int, hi: int) -> tuple[torch.Tensor, torch.Tensor]:
        at = torch.randint(lo, hi - 33, (16,))
        return torch.stack([text[i : i + 32] for i in at]), torch.stack([text[i + 1 : i + 33] for i in at])

    for step in range(1, args.steps + 1):
        x, y = batch(0, 7000)
        loss = crit(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        time.sleep(args.breathe)
        if step % 10 == 0 and rank == 0:
            log.info("step %d | loss %.4f | gnorm %.3f | lr %.1e", step, loss.item(), norm.item(), args.lr)
        if step % args.val_every == 0:
            model.eval()
            with torch.no_grad():
                x, y = batch(7000, 8000)
                val = crit(model.module(x).flatten(0, 1), y.flatten())
            dist.all_reduce(val)
            model.train()
            if rank == 0:
                log.info("validation after %d steps: %.4f", step, val.item() / dist.get_world_size())
                torch.save(model.module.state_dict(), "charlm.tmp")
                Path("charlm.tmp").replace("charlm.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
