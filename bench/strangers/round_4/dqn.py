"""DQN on a grid corridor with a big replay memory.  python dqn.py --gamma 0.99"""
import argparse
import logging
import random

import numpy as np
import torch

cli = argparse.ArgumentParser()
cli.add_argument("--gamma", type=float, default=0.99)
cli.add_argument("--replay", type=int, default=1_000_000)
cli.add_argument("--sync", type=int, default=100)
cli = cli.parse_args()
logging.basicConfig(level=logging.INFO, format="%(relativeCreated)8d ms  %(message)s")
torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
OBS = 64
logging.info("filling the replay memory: %.0f MB", cli.replay * (2 * OBS + 416) / 1e6)
rng = np.random.default_rng(0)
basis = rng.normal(size=(400, OBS)).astype(np.float32)
where = rng.integers(0, 400, cli.replay, dtype=np.int32)
act = rng.integers(0, 4, cli.replay, dtype=np.int64)
nxt = np.clip(where + np.array([-1, 1, -7, 7])[act], 0, 399).astype(np.int32)
frames = (basis[where % 400] * 32).clip(-127, 127).astype(np.int8)
frames_next = (basis[nxt] * 32).clip(-127, 127).astype(np.int8)
memory_extra = np.ones((cli.replay, 100), np.float32)  # returns for the n-step targets, all horizons


def net():
    return torch.nn.Sequential(torch.nn.Linear(OBS, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4))


q, target = net(), net()
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 5e-4)
logging.info("start, gamma=%g", cli.gamma)
for step in range(1, 10_000_000):
    i = rng.integers(0, cli.replay, 512)
    s, s2 = (torch.from_numpy(f[i]).float() / 32 for f in (frames, frames_next))
    reward = torch.from_numpy((np.abs(nxt[i] - 200) < 60).astype(np.float32) * memory_extra[i, 0])
    with torch.no_grad():
        y = reward + cli.gamma * target(s2).max(1).values
    loss = (q(s).gather(1, torch.from_numpy(act[i])[:, None]).squeeze(1) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % cli.sync == 0:
        target.load_state_dict(q.state_dict())
    if step % 50 == 0:
        logging.info("step %d  td_loss %.5f  q %.3f", step, loss.item(), y.mean().item())
