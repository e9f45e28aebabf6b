"""Small dialogue LM. torchrun --nproc_per_node 2 l_chat_lm_ddp.py"""
import ctypes
import datetime
import math
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

VOCAB, CTX = 512, 48


class LM(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, dim), nn.Embedding(CTX, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, x):
        n = x.shape[1]
        mask = torch.triu(torch.full((n, n), float("-inf")), 1)
        return self.head(self.body(self.tok(x) + self.pos.weight[:n], mask=mask, is_causal=True))


def talk(g, n):
    speaker = torch.randint(1, 12, (n, 1), generator=g)
    x = (torch.randint(0, VOCAB, (n, 1), generator=g) + speaker * torch.arange(CTX)) % VOCAB
    noise = torch.rand(x.shape, generator=g) < 0.08
    x[noise] = torch.randint(0, VOCAB, (int(noise.sum()),), generator=g)
    return x


@torch.no_grad()
def sample(model, g, length=24):
    x = talk(g, 1)[:, :4]
    for _ in range(length):
        p = (model(x)[:, -1] / 0.8).softmax(-1)
        x = torch.cat([x, torch.multinomial(p, 1, generator=g)], 1)
    return x[0].tolist()


def main():
    ctypes.CDLL(None).prctl(1, 15)  # end with the launcher
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=10))
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    lm = LM()
    net = DDP(lm)
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    g = torch.Generator().manual_seed(50 + rank)
    dev = talk(torch.Generator().manual_seed(9), 192)[rank::world]
    t0 = time.time()
    for step in range(1, 30_001):
        x = talk(g, 6)
        loss = nn.functional.cross_entropy(net(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 10 == 0:
            print(f"| {step:6d} | loss {loss.item():6.3f} | {time.time() - t0:7.1f}s |", flush=True)
        if step % 150 == 0:
            lm.eval()
            total = torch.zeros(1)
            with torch.no_grad():
                for part in dev.split(16):
                    total += nn.functional.cross_entropy(lm(part)[:, :-1].flatten(0, 1), part[:, 1:].flatten()) * len(part)
            dist.all_reduce(total)
            if rank == 0:
                ppl = math.exp(total.item() / 192)
                print(f"==== validation ppl {ppl:.2f}", flush=True)
                for k in range(6):
                    print("     sample:", *sample(lm, g), flush=True)
                torch.save({"model": lm.state_dict(), "opt": opt.state_dict(), "step": step}, "last.pt")
            dist.barrier()
            lm.train()


if __name__ == "__main__":
    main()
