"""Brazo de dos eslabones (Acrobot), REINFORCE con línea base."""
import csv
import sys

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(6)
torch.set_num_threads(1)
env = gym.make("Acrobot-v1")
red = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
actor, critico = nn.Linear(64, 3), nn.Linear(64, 1)
opt = torch.optim.Adam([*red.parameters(), *actor.parameters(), *critico.parameters()], 1e-3)
hoja = csv.writer(sys.stdout)
hoja.writerow(["episodio", "retorno", "pasos", "perdida_actor", "perdida_critico"])
for episodio in range(1, 20_000):
    obs, _ = env.reset(seed=episodio)
    logs, valores, premios, entropias = [], [], [], []
    fin = False
    while not fin:
        h = red(torch.as_tensor(obs, dtype=torch.float32))
        dist = torch.distributions.Categorical(logits=actor(h))
        a = dist.sample()
        obs, r, term, trunc, _ = env.step(int(a))
        fin = term or trunc
        logs.append(dist.log_prob(a)); valores.append(critico(h)[0]); premios.append(r); entropias.append(dist.entropy())
    g, metas = 0.0, []
    for r in reversed(premios):
        g = r + 0.99 * g
        metas.append(g)
    metas = torch.tensor(metas[::-1]) / 50
    v = torch.stack(valores)
    ventaja = metas - v.detach()
    la = -(torch.stack(logs) * ventaja).mean() - 0.01 * torch.stack(entropias).mean()
    lc = nn.functional.mse_loss(v, metas)
    opt.zero_grad()
    (la + lc).backward()
    opt.step()
    hoja.writerow([episodio, sum(premios), len(premios), f"{la.item():.4f}", f"{lc.item():.4f}"])
    sys.stdout.flush()
