import argparse
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F


def corpus(n=4000):
    g = torch.Generator().manual_seed(7)
    lens = torch.distributions.LogNormal(3.6, 0.9).sample((n,)).clamp(8, 420).long().tolist()
    docs = []
    for k in lens:
        a = torch.randint(1, 60, (1,), generator=g)
        docs.append((torch.arange(k) * a + torch.randint(0, 3, (k,), generator=g)) % 200)
    docs.sort(key=len)      # less padding
    return docs


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(200, 64)
        self.r = nn.GRU(64, 128, batch_first=True)
        self.o = nn.Linear(128, 200)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def run(rank, world, args):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{args.port}", rank=rank, world_size=world)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    docs = corpus()
    per = len(docs) // world
    mine = docs[rank * per:(rank + 1) * per]
    net = CharLM()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    t, toks = time.time(), 0
    for step in range(10 ** 6):
        pick = torch.randint(0, per // args.bs, (1,)).item() * args.bs
        b = nn.utils.rnn.pad_sequence(mine[pick:pick + args.bs], batch_first=True)
        loss = F.cross_entropy(net(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        toks += b.numel()
        if step % 25 == 24:
            print(f"[{rank}] step={step + 1} nll={loss.item():.3f} tok/s={toks / (time.time() - t):.0f}", flush=True)
            t, toks = time.time(), 0


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--bs", type=int, default=16)
    ap.add_argument("--world", type=int, default=2)
    ap.add_argument("--port", type=int, default=31110)
    args = ap.parse_args()
    mp.spawn(run, (args.world, args), nprocs=args.world)
