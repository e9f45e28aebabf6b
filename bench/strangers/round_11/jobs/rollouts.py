"""Synchronous actor-learner REINFORCE on CartPole with domain randomisation."""
import logging
import multiprocessing as mp
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

N_ACTORS = 3
MASSES = {0: 0.08, 1: 0.09, 2: 0.10, 3: 0.11, 4: 0.12, 5: 0.13}


def policy():
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))


def actor(idx, conn):
    logging.basicConfig(filename=f"actor_{idx}.log", level=logging.INFO, format="%(asctime)s %(message)s", force=True)
    log = logging.getLogger()
    torch.manual_seed(idx)
    rng = np.random.default_rng(idx)
    env = gym.make("CartPole-v1")
    net = policy()
    episode = 0
    while True:
        net.load_state_dict({k: torch.from_numpy(v) for k, v in conn.recv().items()})
        obs_l, act_l, ret_l = [], [], []
        try:
            for _ in range(4):
                difficulty = min(int(episode / 55 * (1 + idx % 2)), 5 + idx % 2)
                env.unwrapped.masspole = MASSES[difficulty]
                obs, _ = env.reset(seed=int(rng.integers(1 << 30)))
                rewards, done = [], False
                while not done:
                    with torch.no_grad():
                        p = torch.softmax(net(torch.as_tensor(obs)), -1)
                    a = int(torch.multinomial(p, 1))
                    obs_l.append(obs)
                    act_l.append(a)
                    obs, r, term, trunc, _ = env.step(a)
                    rewards.append(r)
                    done = term or trunc
                ret_l.append(np.cumsum(np.array(rewards)[::-1])[::-1])
                episode += 1
        except Exception:
            log.exception("episode %d aborted", episode)
            raise
        log.info("episode %d mean length %.1f", episode, np.mean([len(r) for r in ret_l]))
        conn.send((np.array(obs_l), np.array(act_l), np.concatenate(ret_l)))


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s learner %(message)s")
    net = policy()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    pipes, procs = [], []
    for i in range(N_ACTORS):
        here, there = mp.Pipe()
        p = mp.Process(target=actor, args=(i, there), daemon=True, name=f"actor-{i}")
        p.start()
        pipes.append((here, there))
        procs.append(p)
    for it in range(1, 100000):
        weights = {k: v.numpy().copy() for k, v in net.state_dict().items()}
        for here, _ in pipes:
            here.send(weights)
        batch = [here.recv() for here, _ in pipes]
        obs = torch.as_tensor(np.concatenate([b[0] for b in batch]))
        act = torch.as_tensor(np.concatenate([b[1] for b in batch]))
        ret = torch.as_tensor(np.concatenate([b[2] for b in batch]).copy(), dtype=torch.float32)
        adv = (ret - ret.mean()) / (ret.std() + 1e-6)
        logp = torch.log_softmax(net(obs), -1).gather(1, act[:, None])[:, 0]
        loss = -(logp * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        logging.info("iter %d  loss %.4f  frames %d  mean_return %.1f", it, loss.item(), len(obs), len(obs) / (4 * N_ACTORS))


if __name__ == "__main__":
    mp.set_start_method("fork")
    main()
