"""Curiosity-driven exploration of a maze: bonus = distance to the nearest embeddings seen so far."""
import json
import sys
import time

import torch
import torch.nn as nn

torch.manual_seed(0)
SIZE, BATCH, DIM = 24, 96, 96
walls = torch.rand(SIZE, SIZE) < 0.2
MOVES = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * SIZE, 256), nn.Tanh(), nn.Linear(256, DIM), nn.Tanh())
        self.policy, self.value = nn.Linear(DIM, 4), nn.Linear(DIM, 1)

    def forward(self, x):
        h = self.body(x)
        return h, self.policy(h), self.value(h).squeeze(-1)


class EpisodicMemory:
    def __init__(self):
        self.keys = torch.zeros(0, DIM)

    def bonus(self, h, k=10):
        if len(self.keys) < k:
            return torch.ones(len(h))
        return torch.cdist(h, self.keys).topk(k, largest=False).values.mean(1)

    def add(self, h):
        self.keys = torch.cat([self.keys, h])


def encode(pos):
    one = torch.zeros(len(pos), 2 * SIZE)
    one.scatter_(1, pos[:, :1], 1.0)
    one.scatter_(1, pos[:, 1:] + SIZE, 1.0)
    return one + 0.01 * torch.randn_like(one)


def main():
    agent, memory = Agent(), EpisodicMemory()
    opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
    pos = torch.randint(0, SIZE, (BATCH, 2))
    for update in range(1, 100000):
        t0 = time.perf_counter()
        logp, vals, rews = [], [], []
        for _ in range(4):
            h, logits, v = agent(encode(pos))
            d = torch.distributions.Categorical(logits=logits)
            a = d.sample()
            new = (pos + MOVES[a]).clamp(0, SIZE - 1)
            pos = torch.where(walls[new[:, 0], new[:, 1]][:, None], pos, new)
            with torch.no_grad():
                h = agent.body(encode(pos))
                rews.append(memory.bonus(h))
                memory.add(h[::2])
            logp.append(d.log_prob(a))
            vals.append(v)
        ret, rets = torch.zeros(BATCH), []
        for r in reversed(rews):
            ret = r + 0.95 * ret
            rets.append(ret)
        rets, vals, logp = torch.stack(rets[::-1]), torch.stack(vals), torch.stack(logp)
        adv = (rets - vals).detach()
        loss = -(logp * adv).mean() + 0.5 * (rets - vals).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 5 == 0:
            rec = {"update": update, "loss": round(loss.item(), 4), "bonus": round(torch.stack(rews).mean().item(), 4), "update_s": round(time.perf_counter() - t0, 4)}
            print(json.dumps(rec), file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
