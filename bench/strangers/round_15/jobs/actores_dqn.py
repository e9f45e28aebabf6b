"""DQN distribuido: un actor juega, un aprendiz entrena. Comunicación por colas."""
import queue
import random
import time

import gymnasium as gym
import numpy as np
import torch
import torch.multiprocessing as mp
from torch import nn


def red():
    return nn.Sequential(nn.Linear(4, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 2))


def actor(pesos, salida):
    torch.set_num_threads(1)
    env, q = gym.make("CartPole-v1"), red()
    eps, n = 1.0, 0
    while True:
        try:
            q.load_state_dict(pesos.get_nowait())
        except queue.Empty:
            pass
        obs, _ = env.reset()
        tramo, total = [], 0.0
        while True:
            if random.random() < eps:
                a = env.action_space.sample()
            else:
                with torch.no_grad():
                    a = int(q(torch.from_numpy(obs)).argmax())
            sig, r, fin, corte, _ = env.step(a)
            tramo.append((obs, a, r, sig, fin))
            obs, total = sig, total + r
            if fin or corte:
                break
        n += 1
        eps = max(0.05, eps * 0.97)
        salida.put((tramo, total))


def aprendiz():
    ctx = mp.get_context("spawn")
    pesos, datos = ctx.Queue(1), ctx.Queue(64)
    ctx.Process(target=actor, args=(pesos, datos), daemon=True).start()
    q, objetivo = red(), red()
    objetivo.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=5e-4)
    memoria, paso, episodios, premios = [], 0, 0, []
    while True:
        while not datos.empty() or len(memoria) < 2000:
            tramo, total = datos.get()
            memoria.extend(tramo)
            memoria = memoria[-30000:]
            episodios += 1
            premios = (premios + [total])[-20:]
            if episodios % 10 == 0:
                print(f"episodio {episodios:4d} largo {len(tramo):3d} premio {total:7.1f} media20 {np.mean(premios):7.1f}", flush=True)
        for _ in range(50):
            s, a, r, s2, f = map(np.array, zip(*random.sample(memoria, 64)))
            with torch.no_grad():
                y = torch.as_tensor(r, dtype=torch.float32) + 0.99 * objetivo(torch.as_tensor(s2)).amax(1) * ~torch.as_tensor(f)
            v = q(torch.as_tensor(s)).gather(1, torch.as_tensor(a)[:, None]).squeeze(1)
            perdida = nn.functional.smooth_l1_loss(v, y)
            opt.zero_grad()
            perdida.backward()
            opt.step()
            paso += 1
        if paso % 500 == 0:
            objetivo.load_state_dict(q.state_dict())
            print(f"  paso {paso} pérdida {perdida.item():.4f} memoria {len(memoria)}", flush=True)
        try:
            pesos.put_nowait({k: v.clone() for k, v in q.state_dict().items()})
        except queue.Full:
            pass


if __name__ == "__main__":
    aprendiz()
