"""Actor threads fill the replay, the main thread learns a value function."""
import collections
import random
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Replay:
    def __init__(self, meter):
        self.lock = threading.Lock()
        self.meter = meter
        self.data = collections.deque(maxlen=5000)

    def add(self, episode):
        with self.lock:
            for item in episode:
                self.data.append(item)
                time.sleep(0.0004)
            with self.meter.lock:
                self.meter.returns.append(sum(r for _, r in episode))

    def sample(self, n):
        with self.lock:
            picked = random.choices(self.data, k=n)
        return np.stack([s for s, _ in picked]), np.array([r for _, r in picked], np.float32)


class Meter:
    def __init__(self):
        self.lock = threading.Lock()
        self.returns = []

    def summary(self, replay):
        with self.lock:
            mean = float(np.mean(self.returns[-100:]))
            top = sorted(self.returns)[-5:]
            time.sleep(0.002)
            with replay.lock:
                return mean, top[-1], len(replay.data)


def actor(replay, seed):
    rng = np.random.default_rng(seed)
    while True:
        length = int(rng.integers(20, 90))
        states = rng.standard_normal((length, 8)).astype(np.float32)
        replay.add([(s, float(np.sin(s[0]) + s[1] * s[2])) for s in states])
        time.sleep(0.03)


def apply(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


def main():
    sizes = [8, 128, 128, 1]
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = [(jax.random.normal(k, (a, b)) * (2 / a) ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]
    tx = optax.adam(3e-4)
    state = tx.init(params)

    @jax.jit
    def update(params, state, s, r):
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((apply(p, s) - r) ** 2))(params)
        up, state = tx.update(grads, state)
        return optax.apply_updates(params, up), state, loss

    meter = Meter()
    replay = Replay(meter)
    for seed in range(2):
        threading.Thread(target=actor, args=(replay, seed), daemon=True, name=f"actor-{seed}").start()
    time.sleep(1)
    for n in range(1, 10 ** 6):
        params, state, loss = update(params, state, *replay.sample(128))
        time.sleep(0.01)
        if n % 20 == 0:
            print(f"update {n} td_loss {float(loss):.4f}", flush=True)
        if n > 300 and n % 10 == 0:
            mean, best, size = meter.summary(replay)
            print(f"        return {mean:.2f} best {best:.2f} replay {size}", flush=True)


main()
