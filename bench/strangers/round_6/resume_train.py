"""Translation toy that continues from the newest file in --dir."""

import argparse
import pathlib
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--dir", type=pathlib.Path, required=True)
parser.add_argument("--save-every", type=int, default=40)
args = parser.parse_args()
torch.set_num_threads(1)


class Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.src = nn.Embedding(1000, 64)
        self.enc = nn.GRU(64, 64, batch_first=True)
        self.dec = nn.Linear(64, 1000)

    def forward(self, x):
        return self.dec(self.enc(self.src(x))[0])


def save(model, opt, step):
    path = args.dir / f"ckpt-{step:06d}.pt"
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": step}, path)


def load(model, opt):
    files = sorted(args.dir.glob("ckpt-*.pt"))
    if not files:
        return 0
    print(f"resuming from {files[-1]}", flush=True)
    state = torch.load(files[-1])
    model.load_state_dict(state["model"])
    opt.load_state_dict(state["opt"])
    return state["step"]


args.dir.mkdir(exist_ok=True)
model = Seq()
opt = torch.optim.Adam(model.parameters(), 1e-3)
step = load(model, opt)
while step < 100000:
    step += 1
    x = torch.randint(1000, (16, 20))
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), (x * 7 % 1000).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.05)
    if step % 10 == 0:
        print(f"| step {step} | loss {loss.item():.3f} | ppl {loss.exp().item():.1f}", flush=True)
    if step % args.save_every == 0:
        save(model, opt, step)
