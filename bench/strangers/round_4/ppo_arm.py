"""PPO for a 2-joint arm. N simulator processes talk over pipes to the learner. JSONL to stdout."""
import json
import math
import multiprocessing as mp
import os
import random
import time

import torch
from torch import nn

HORIZON, N_ENV = 64, 4


def simulator(conn, seed, tick):
    rng = random.Random(seed)
    reset = lambda: [rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(-1, 1), rng.uniform(-1, 1)]
    s = reset()
    while True:
        a = conn.recv()
        if a is None:
            return
        time.sleep(tick)  # the physics run in real time
        s[0] += 0.2 * max(-1, min(1, a[0]))
        s[1] += 0.2 * max(-1, min(1, a[1]))
        d = math.hypot(math.cos(s[0]) + math.cos(s[0] + s[1]) - s[2], math.sin(s[0]) + math.sin(s[0] + s[1]) - s[3])
        done = d < 0.1 or rng.random() < 0.02
        if done:
            s = reset()
        conn.send((list(s), -d, done))


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.mu, self.v = nn.Linear(256, 2), nn.Linear(256, 1)
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, s):
        h = self.body(s)
        return torch.distributions.Normal(self.mu(h), self.log_std.exp()), self.v(h).squeeze(-1)


if __name__ == "__main__":
    torch.set_num_threads(1)
    pipes = []
    for i in range(N_ENV):
        ours, theirs = mp.Pipe()
        mp.Process(target=simulator, args=(theirs, i, float(os.environ.get("SIM_TICK", "0.1"))), daemon=True, name=f"sim-{i}").start()
        pipes.append(ours)
    net = ActorCritic()
    opt = torch.optim.Adam(net.parameters(), 3e-4)
    state = torch.zeros(N_ENV, 4)
    for update in range(100_000):
        t0, S, A, L, R, D, V = time.time(), [], [], [], [], [], []
        for _ in range(HORIZON):
            with torch.no_grad():
                pi, v = net(state)
                a = pi.sample()
            for p, x in zip(pipes, a.tolist()):
                p.send(x)
            out = [p.recv() for p in pipes]
            S.append(state), A.append(a), L.append(pi.log_prob(a).sum(-1)), V.append(v)
            state = torch.tensor([o[0] for o in out])
            R.append(torch.tensor([o[1] for o in out])), D.append(torch.tensor([float(o[2]) for o in out]))
        ret, G = torch.zeros(N_ENV), []
        for r, d in zip(reversed(R), reversed(D)):
            ret = r + 0.95 * ret * (1 - d)
            G.insert(0, ret)
        S, A, L, G, V = (torch.cat(t) for t in (S, A, L, G, V))
        adv = (G - V - (G - V).mean()) / ((G - V).std() + 1e-6)
        t1 = time.time()
        for _ in range(400):
            i = torch.randint(len(S), (128,))
            pi, v = net(S[i])
            ratio = (pi.log_prob(A[i]).sum(-1) - L[i]).exp()
            surrogate = torch.min(ratio * adv[i], ratio.clamp(0.8, 1.2) * adv[i]).mean()
            loss = -surrogate + 0.5 * (v - G[i]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
        rec = dict(update=update, mean_reward=torch.stack(R).mean().item(), loss=loss.item(), rollout_s=t1 - t0, learn_s=time.time() - t1)
        print(json.dumps({k: round(x, 3) for k, x in rec.items()}), flush=True)
