import time
import numpy as np
import torch
from tqdm import tqdm

rng = np.random.default_rng(0)
torch.manual_seed(0)
q = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
opt = torch.optim.Adam(q.parameters(), 3e-4)
truth = rng.normal(0, 0.3, (64, 4))
obs = np.zeros((0, 64), "float32")
act = np.zeros(0, "int64")
rew = np.zeros(0, "float32")
bar = tqdm(range(10 ** 6), desc="rollouts", mininterval=1.0)
for it in bar:
    o = rng.normal(size=(256, 64)).astype("float32")
    with torch.no_grad():
        a = q(torch.from_numpy(o)).argmax(1).numpy()
    a = np.where(rng.random(256) < 0.1, rng.integers(0, 4, 256), a)
    r = ((o @ truth)[np.arange(256), a] + rng.normal(0, 0.5, 256)).astype("float32")
    obs, act, rew = np.concatenate([obs, o]), np.concatenate([act, a]), np.concatenate([rew, r])
    # priorities
    with torch.no_grad():
        pred = q(torch.from_numpy(obs)).gather(1, torch.from_numpy(act)[:, None])[:, 0].numpy()
    p = np.abs(pred - rew) + 1e-3
    k = rng.choice(len(p), 256, p=p / p.sum())
    loss = torch.nn.functional.huber_loss(q(torch.from_numpy(obs[k])).gather(1, torch.from_numpy(act[k])[:, None])[:, 0], torch.from_numpy(rew[k]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        bar.set_postfix(loss=f"{loss.item():.3f}", reward=f"{r.mean():.3f}")
