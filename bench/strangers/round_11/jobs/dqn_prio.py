"""DQN con repetición priorizada para CartPole."""
import random
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

ENTORNOS = 8


class Memoria:
    def __init__(self, alfa=0.6):
        self.transiciones = []
        self.prioridad = []
        self.alfa = alfa

    def agrega(self, t):
        self.transiciones.append(t)
        self.prioridad.append(max(self.prioridad[-50:], default=1.0))

    def muestra(self, n):
        pesos = [p ** self.alfa for p in self.prioridad]
        total = sum(pesos)
        probs = [p / total for p in pesos]
        idx = random.choices(range(len(self.transiciones)), weights=probs, k=n)
        return idx, [self.transiciones[i] for i in idx]


def red():
    return nn.Sequential(nn.Linear(4, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 2))


def main():
    random.seed(0)
    torch.manual_seed(0)
    envs = [gym.make("CartPole-v1") for _ in range(ENTORNOS)]
    obs = [e.reset(seed=i)[0] for i, e in enumerate(envs)]
    q, q_obj = red(), red()
    q_obj.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=5e-4)
    mem = Memoria()
    largo, largos, t0, hechos = [0] * ENTORNOS, [], time.time(), 0
    for paso in range(1, 1_000_000):
        eps = max(0.05, 1 - paso / 1500)
        with torch.no_grad():
            voraz = q(torch.as_tensor(np.array(obs))).argmax(1).tolist()
        for i, e in enumerate(envs):
            a = random.randrange(2) if random.random() < eps else voraz[i]
            sig, r, fin, corte, _ = e.step(a)
            mem.agrega((obs[i], a, r, sig, fin))
            largo[i] += 1
            if fin or corte:
                largos.append(largo[i])
                largo[i] = 0
                sig, _ = e.reset()
            obs[i] = sig
        hechos += 1
        if paso < 50:
            continue
        idx, lote = mem.muestra(64)
        o, a, r, s, f = (np.array(c) for c in zip(*lote))
        with torch.no_grad():
            obj = torch.as_tensor(r, dtype=torch.float32) + 0.98 * q_obj(torch.as_tensor(s)).max(1).values * torch.as_tensor(~f)
        val = q(torch.as_tensor(o)).gather(1, torch.as_tensor(a)[:, None])[:, 0]
        perdida = nn.functional.smooth_l1_loss(val, obj)
        opt.zero_grad()
        perdida.backward()
        opt.step()
        for i, d in zip(idx, (val - obj).abs().tolist()):
            mem.prioridad[i] = d + 1e-3
        if paso % 200 == 0:
            q_obj.load_state_dict(q.state_dict())
        if paso % 25 == 0:
            dt, t0 = time.time() - t0, time.time()
            print(f"paso {paso} | pérdida {perdida.item():.4f} | retorno {np.mean(largos[-20:] or [0]):.1f} | {hechos / dt:.1f} pasos/s")
            hechos = 0


if __name__ == "__main__":
    main()
