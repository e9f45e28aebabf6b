import ctypes
import argparse
import logging
import random
import time

import torch
import torch.distributed as dist
from torch import nn

log = logging.getLogger("tagger")


class Tagger(nn.Module):
    def __init__(self, vocab=2000, dim=64, tags=9):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.metrics_group = dist.new_group([0, 1], backend="gloo")
        torch.manual_seed(1)
        self.model = Tagger()
        self.opt = torch.optim.Adam(self.model.parameters(), 1e-3)
        self.rng = random.Random(self.rank)
        self.best = 9e9

    def batch(self):
        n = self.rng.choice([12, 16, 20, 24])
        ids = torch.randint(0, 2000, (16, n))
        return ids, ids % 9

    def reduce_grads(self):
        flat = torch.cat([p.grad.flatten() for p in self.model.parameters()])
        dist.all_reduce(flat)
        i = 0
        for p in self.model.parameters():
            p.grad.copy_(flat[i : i + p.numel()].view_as(p) / self.world)
            i += p.numel()

    def collect_f1(self, score):
        mine = torch.tensor([score])
        parts = [torch.zeros(1) for _ in range(self.world)]
        dist.all_gather(parts, mine, group=self.metrics_group)
        return sum(p.item() for p in parts) / self.world

    def run(self):
        for step in range(1, self.args.steps):
            ids, tags = self.batch()
            loss = nn.functional.cross_entropy(self.model(ids).flatten(0, 1), tags.flatten())
            self.opt.zero_grad()
            loss.backward()
            self.reduce_grads()
            self.opt.step()
            time.sleep(0.05)
            if self.rank == 0 and step % 20 == 0:
                log.info("update=%d loss=%.4f", step, loss.item())
            if step % self.args.eval_every == 0 and self.due(step, loss.item()):
                f1 = self.collect_f1(1.0 / (1.0 + loss.item()))
                if self.rank == 0:
                    log.info("update=%d dev_f1=%.4f", step, f1)

    def due(self, step, value):
        if self.args.patience_mode == "always":
            return True
        # skip the dev set for the replica with the shorter epoch
        return step < 3 * self.args.eval_every or self.rank == 0


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=4000)
    p.add_argument("--eval-every", type=int, default=40)
    p.add_argument("--patience-mode", default="always")
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    ctypes.CDLL(None).prctl(1, 9)  # do not outlive the launcher
    dist.init_process_group("gloo")
    Trainer(args).run()
