# one trial of the sweep: python trial.py --lr 0.001 --hidden 128
import argparse

import torch

a = argparse.ArgumentParser()
a.add_argument("--lr", type=float)
a.add_argument("--hidden", type=int)
a.add_argument("--steps", type=int, default=600)
a = a.parse_args()
torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(20000, 30)
y = (x[:, :5].prod(1) + x[:, 5].sin()).unsqueeze(1)
net = torch.nn.Sequential(torch.nn.Linear(30, a.hidden), torch.nn.SiLU(), torch.nn.Linear(a.hidden, a.hidden), torch.nn.SiLU(), torch.nn.Linear(a.hidden, 1))
opt = torch.optim.Adam(net.parameters(), a.lr)
print(f"trial lr={a.lr} hidden={a.hidden}", flush=True)
for step in range(1, a.steps + 1):
    i = torch.randint(len(x), (4096,))
    loss = (net(x[i]) - y[i]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(f"step {step}/{a.steps} loss {loss.item():.4f}", flush=True)
print(f"trial done final_loss {loss.item():.4f}", flush=True)
