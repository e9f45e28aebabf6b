# two ranks; the first one decodes the dev set now and then while the other waits for the verdict
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn

dist.init_process_group("gloo")
R = dist.get_rank()
torch.set_num_threads(1)
torch.manual_seed(0)
V, T = 24, 20


def pairs(g, n=48):
    x = torch.randint(3, V, (n, T), generator=g)
    return x, x.flip(1)


class Seq(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.src, self.tgt, self.pos = nn.Embedding(V, d), nn.Embedding(V, d), nn.Parameter(torch.randn(T, d) * 0.1)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 128, 0.0, batch_first=True, norm_first=True), 1, enable_nested_tensor=False)
        self.dec = nn.TransformerDecoder(nn.TransformerDecoderLayer(d, 4, 128, 0.0, batch_first=True, norm_first=True), 1)
        self.out = nn.Linear(d, V)

    def forward(self, x, y):
        m = self.enc(self.src(x) + self.pos)
        n = y.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        return self.out(self.dec(self.tgt(y) + self.pos[:n], m, tgt_mask=mask, tgt_is_causal=True))


def shift(y):
    return torch.cat([torch.ones(len(y), 1, dtype=torch.long), y[:, :-1]], 1)


@torch.no_grad()
def greedy(net, x):
    y = torch.ones(len(x), 1, dtype=torch.long)
    for _ in range(T):
        y = torch.cat([y, net(x, y)[:, -1:].argmax(-1)], 1)
    return y[:, 1:]


net = nn.parallel.DistributedDataParallel(Seq())
opt = torch.optim.Adam(net.parameters(), 1e-3)
g, dev = torch.Generator().manual_seed(10 + R), torch.Generator().manual_seed(99)
start = time.time()
for step in range(1, 1000000):
    x, y = pairs(g)
    loss = nn.functional.cross_entropy(net(x, shift(y)).flatten(0, 1), y.flatten(), label_smoothing=0.1)
    opt.zero_grad(), loss.backward(), opt.step()
    if R == 0 and step % 25 == 0:
        print("step", step, "loss %.4f" % loss.item(), "elapsed %.0f" % (time.time() - start), sep="\t")
    if step % 300 == 0:
        best = torch.zeros(1)
        if R == 0:
            hits = []
            for _ in range(8):
                a, b = pairs(dev)
                hits.append((greedy(net.module, a) == b).float().mean())
            best.fill_(torch.stack(hits).mean())
            print("dev", step, "token accuracy %.4f" % best.item(), "elapsed %.0f" % (time.time() - start), sep="\t")
        dist.broadcast(best, 0)
