"""Sentiment over reviews of any length: padded to a few buckets so that XLA compiles each only once."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state
from tensorboardX import SummaryWriter

BUCKETS = (32, 64, 128)


class Net(nn.Module):
    @nn.compact
    def __call__(self, ids, mask):
        x = nn.Embed(1000, 64)(ids)
        x = nn.relu(nn.Conv(96, (5,))(x))
        x = nn.relu(nn.Conv(96, (5,))(x))
        x = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return nn.Dense(2)(nn.relu(nn.Dense(64)(x)))


rng = np.random.default_rng(0)
tone = np.random.default_rng(1).normal(0, 1, 1000)


def reviews(n=48):
    top = BUCKETS[rng.choice(3, p=[0.5, 0.35, 0.15])]
    lens = rng.integers(top // 2, top, n)
    ids = rng.integers(0, 1000, (n, top))
    mask = (np.arange(top) < lens[:, None]).astype("float32")
    y = ((tone[ids] * mask).sum(1) + rng.normal(0, 1.5, n) > 0).astype("int32")
    return ids, mask, y


net = Net()
ids, mask, _ = reviews()
params = net.init(jax.random.key(0), ids, mask)
ts = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 500, 60000)))


@jax.jit
def step(ts, ids, mask, y):
    def f(p):
        lg = ts.apply_fn(p, ids, mask)
        return optax.softmax_cross_entropy_with_integer_labels(lg, y).mean(), (lg.argmax(-1) == y).mean()

    (l, acc), g = jax.value_and_grad(f, has_aux=True)(ts.params)
    return ts.apply_gradients(grads=g), l, acc


tb = SummaryWriter("tb")
for b in range(200):
    step(ts, *reviews())  # compile all buckets before timing
print("compiled, go")
ls, accs, t0 = [], [], time.time()
for i in range(1, 60001):
    ts, l, acc = step(ts, *reviews())
    ls.append(float(l))
    accs.append(float(acc))
    if i % 100 == 0:
        tb.add_scalar("train/loss", np.mean(ls), i)
        tb.add_scalar("train/acc", np.mean(accs), i)
        print(f"{i:6d}/60000 | loss {np.mean(ls):.3f} | acc {np.mean(accs):.3f} | {100 / (time.time() - t0):.0f} steps/s")
        ls, accs, t0 = [], [], time.time()
