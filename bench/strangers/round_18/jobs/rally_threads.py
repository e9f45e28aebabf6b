"""Tennis rallies: players (threads) play points, the learner fits the value of a position."""
import collections
import random
import threading
import time

import torch
from torch import nn

points = collections.deque(maxlen=4000)


def rally(rng):
    x, y, vx, vy, shots = 0.5, 0.0, rng.uniform(-0.02, 0.02), 0.03, 0
    trace = []
    while shots < 30:
        for _ in range(40):
            x += vx
            y += vy
            vx *= 0.999
            if x < 0 or x > 1:
                vx = -vx
            if y > 1 or y < 0:
                vy = -vy
        shots += 1
        trace.append((x, y, vx * 30, vy * 30))
        if rng.random() < 0.1 + abs(x - 0.5) * 0.2:
            break
        vx = rng.uniform(-0.03, 0.03)
    return trace, shots % 2


def player(seed):
    rng = random.Random(seed)
    while True:
        trace, won = rally(rng)
        points.append((trace[-1], float(won)))


for k in range(5):
    threading.Thread(target=player, args=(k,), name=f"player-{k}", daemon=True).start()
time.sleep(1)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.RMSprop(net.parameters(), 1e-3)
began = time.time()
for step in range(1, 1000000):
    batch = random.sample(list(points), 64)
    x = torch.tensor([b[0] for b in batch])
    y = torch.tensor([b[1] for b in batch])
    loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print(f"{time.strftime('%H:%M:%S')} learner: step {step}, value loss {loss.item():.4f}, {step / (time.time() - began):.1f} steps/s", flush=True)
