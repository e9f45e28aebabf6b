"""A GRU writes counterpoint; lessons get longer, from 16 notes to 96 (as in the course book)."""
import time

import torch
from torch import nn

torch.manual_seed(0)
embed, gru, head = nn.Embedding(24, 32), nn.GRU(32, 48, batch_first=True), nn.Linear(48, 24)
parameters = [*embed.parameters(), *gru.parameters(), *head.parameters()]
opt = torch.optim.Adam(parameters, 4e-4)


def melodies(n, length):
    moves = torch.randint(-2, 3, (n, length + 1))
    return (12 + moves.cumsum(1)) % 24


step = 0
for lesson, length in enumerate(range(16, 97, 8), 1):
    print(f"### lesson {lesson}: {length} notes per melody, so each step takes about {length / 16:.1f} times as long as in lesson 1", flush=True)
    for _ in range(400):
        began = time.time()
        m = melodies(32, length)
        out, _ = gru(embed(m[:, :-1]))
        loss = nn.functional.cross_entropy(head(out).flatten(0, 1), m[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.0025 * length)
        step += 1
        if step % 20 == 0:
            print(f"lesson {lesson} step {step} notes {length} nll {loss.item():.4f} ({time.time() - began:.3f} s, {32 * length / (time.time() - began):.0f} notes/s)", flush=True)
