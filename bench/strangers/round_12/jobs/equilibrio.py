"""Ator-crítico no CartPole, um episódio por atualização."""
import csv

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(2)
amb = gym.make("CartPole-v1")
rede = nn.Sequential(nn.Linear(4, 128), nn.Tanh())
pol, val = nn.Linear(128, 2), nn.Linear(128, 1)
par = [*rede.parameters(), *pol.parameters(), *val.parameters()]
otim = torch.optim.Adam(par, lr=1e-3)
arq = open("episodios.csv", "w", newline="")
tab = csv.writer(arq)
tab.writerow(["episodio", "passos", "retorno_medio", "perda_critico"])
media = 20.0
for ep in range(1, 10**7):
    obs, _ = amb.reset(seed=ep)
    logs, vals, ents, fim, passos = [], [], [], False, 0
    while not fim:
        h = rede(torch.as_tensor(obs))
        d = torch.distributions.Categorical(logits=pol(h))
        a = d.sample()
        obs, _, t, c, _ = amb.step(a.item())
        logs.append(d.log_prob(a))
        vals.append(val(h).squeeze())
        ents.append(d.entropy())
        passos += 1
        fim = t or c
    g, rets = 0.0, []
    for _ in range(passos):
        g = 1.0 + 0.99 * g
        rets.append(g / 50)
    rets = torch.tensor(rets[::-1])
    v = torch.stack(vals)
    vant = rets - v.detach()
    crit = (v - rets).pow(2).mean()
    perda = -(torch.stack(logs) * vant).mean() + crit - 0.005 * torch.stack(ents).mean()
    otim.zero_grad()
    perda.backward()
    torch.nn.utils.clip_grad_norm_(par, 0.5)
    otim.step()
    media = 0.95 * media + 0.05 * passos
    tab.writerow([ep, passos, f"{media:.1f}", f"{crit.item():.5f}"])
    if ep % 10 == 0:
        arq.flush()
        print(f"episódio {ep:5d} | passos {passos:3d} | média móvel {media:6.1f}")
