import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)
policy = nn.GRUCell(5, 128)
gas = nn.Linear(128, 1)
opt = torch.optim.Adam([*policy.parameters(), *gas.parameters()], 5e-4)
horizon, stage, since, step = 20, 1, time.time(), 0
print(f"stage 1: horizon {horizon}", flush=True)
while True:
    if time.time() - since > 45 and stage < 8:
        stage, since = stage + 1, time.time()
        horizon += 8
        print(f"stage {stage}: horizon {horizon}, a step takes longer by as much (curriculum)", flush=True)
    step += 1
    h = torch.zeros(96, 128)
    speed = 20 + 4 * torch.randn(96, 1)
    target = 20 + 5 * torch.rand(96, 1)
    cost = 0
    for t in range(horizon):
        slope = 0.05 * torch.randn(96, 1)
        obs = torch.cat([(speed - 20) / 5, (target - 20) / 5, slope, speed * 0 + t / 60, (speed - target) / 5], 1)
        h = policy(obs, h)
        u = torch.tanh(gas(h))
        speed = speed + 0.5 * u - 3 * slope
        cost = cost + ((speed - target) ** 2).mean() / 25 + 0.01 * (u ** 2).mean()
    loss = cost / horizon
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*policy.parameters(), *gas.parameters()], 1.0)
    opt.step()
    if step % 10 == 0:
        print(f"stage {stage} step {step:6d} cost/s {loss.item():.4f} err {float((speed - target).detach().abs().mean()):.2f} m/s", flush=True)
