import numpy as np, time
import torch
from torch import nn
g = np.random.default_rng(0); torch.manual_seed(0)
true = g.normal(size=(24, 6))
policy = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 6))
opt = torch.optim.Adam(policy.parameters(), 2e-3)
seen_ctx = np.zeros((0, 24)); seen_rew = np.zeros(0)
t = time.perf_counter()
for rnd in range(1, 10**6):
    ctx = g.normal(size=(512, 24))
    dist = torch.distributions.Categorical(logits=policy(torch.tensor(ctx, dtype=torch.float32)))
    act = dist.sample()
    rew = (ctx @ true)[np.arange(512), act.numpy()] + .2 * g.normal(size=512)
    seen_ctx = np.concatenate([seen_ctx, ctx]); seen_rew = np.concatenate([seen_rew, rew])
    z = (ctx - seen_ctx.mean(0)) / seen_ctx.std(0)
    base = np.linalg.lstsq(seen_ctx, seen_rew, rcond=None)[0]
    adv = torch.tensor(rew - z @ base, dtype=torch.float32)
    loss = -(dist.log_prob(act) * adv).mean() - .01 * dist.entropy().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    now = time.perf_counter()
    print(f"round={rnd} reward={rew.mean():+.3f} loss={loss.item():+.3f} dt={now - t:.4f}s", flush=True)
    t = now
