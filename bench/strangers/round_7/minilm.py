import ctypes
import os, time, math
import torch
import torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Block(nn.Module):
    def __init__(s, d):
        super().__init__()
        s.ln, s.at, s.ff = nn.LayerNorm(d), nn.MultiheadAttention(d, 4, batch_first=True), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(s, x):
        h = s.ln(x)
        x = x + s.at(h, h, h, need_weights=False)[0]
        return x + s.ff(x)

class LM(nn.Module):
    def __init__(s, v=256, d=64):
        super().__init__()
        s.e, s.b, s.o = nn.Embedding(v, d), nn.Sequential(Block(d), Block(d)), nn.Linear(d, v)
    def forward(s, t):
        return s.o(s.b(s.e(t)))

def main():
    ctypes.CDLL(None).prctl(1, 9)  # do not outlive the launcher
    dist.init_process_group("gloo")
    r = dist.get_rank()
    m = DDP(LM())
    opt = torch.optim.AdamW(m.parameters(), 1e-3)
    total = int(os.environ.get("TOTAL", 3000))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 100) * 0.5 * (1 + math.cos(math.pi * s / total)))
    t0 = time.time()
    for it in range(total):
        start = torch.randint(0, 200, (8, 1))
        x = (start + torch.arange(33)) % 256
        loss = nn.functional.cross_entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
        time.sleep(0.06)
        if it % 10 == 0 and r == 0:
            print("iter %d: train loss %.4f, lr %.3e, tok/s %.0f" % (it, loss.item(), sched.get_last_lr()[0], 2 * 8 * 32 * 10 / (time.time() - t0)), flush=True)
            t0 = time.time()
    dist.destroy_process_group()

main()
