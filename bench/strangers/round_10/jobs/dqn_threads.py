"""CartPole の DQN。収集スレッドと学習スレッド。"""
import copy
import random
import threading
import time
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
target = copy.deepcopy(net)
net_lock = threading.Lock()
buf_lock = threading.Lock()
memory = deque(maxlen=20000)


def collect():
    env = gym.make("CartPole-v1")
    s, _ = env.reset(seed=0)
    ep, total, eps = 0, 0.0, 1.0
    while True:
        with net_lock:
            a = env.action_space.sample() if random.random() < eps else int(net(torch.as_tensor(s)).argmax())
        s2, r, term, trunc, _ = env.step(a)
        with buf_lock:
            memory.append([s, a, r, s2, float(term), 1.0])
        s, total = s2, total + r
        if term or trunc:
            ep += 1
            eps = max(0.05, eps * 0.99)
            if ep % 10 == 0:
                print(f"エピソード {ep} 報酬 {total:.0f} 探索率 {eps:.2f} バッファ {len(memory)}", flush=True)
            if ep > 120:
                with buf_lock:
                    last = list(memory)[-1000:]
                    with net_lock, torch.no_grad():
                        q = net(torch.as_tensor(np.stack([m[0] for m in last]))).max(1).values
                    for m, v in zip(last, q.tolist()):
                        m[5] = 1.0 + abs(v - m[2])
            total = 0.0
            s, _ = env.reset()
        time.sleep(0.001)


def learn():
    opt = torch.optim.Adam(net.parameters(), 1e-4)
    n = 0
    while True:
        with buf_lock:
            batch = random.sample(memory, 64) if len(memory) > 1000 else None
        if batch is None:
            time.sleep(0.1)
            continue
        s, a, r, s2, d = (torch.as_tensor(np.array([b[k] for b in batch]), dtype=torch.float32) for k in range(5))
        with net_lock:
            with torch.no_grad():
                y = (r + 0.9 * (1 - d) * target(s2).max(1).values).clamp(0, 10)
            loss = nn.functional.smooth_l1_loss(net(s).gather(1, a.long()[:, None])[:, 0], y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        n += 1
        if n % 200 == 0:
            print(f"更新 {n} 損失 {loss.item():.4f}", flush=True)
        if n % 2 == 0:
            with net_lock:
                target.load_state_dict(net.state_dict())
                with buf_lock:
                    mean = sum(m[5] for m in memory) / len(memory)
            if n % 400 == 0:
                print(f"ターゲット同期 平均優先度 {mean:.3f}", flush=True)


threads = [threading.Thread(target=f, name=f.__name__) for f in (collect, learn)]
for t in threads:
    t.start()
for t in threads:
    t.join()
