"""Value network for 7x7 Hex from random self-play, in JAX/Flax."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

N = 7
NB = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)]


class Value(nn.Module):
    @nn.compact
    def __call__(self, b):
        x = nn.relu(nn.Conv(16, (3, 3))(b))
        return jnp.tanh(nn.Dense(1)(nn.relu(nn.Dense(64)(x.reshape(x.shape[0], -1)))))[:, 0]


def won(board, who, at):
    seen, todo, lo, hi = {at}, [at], False, False
    while todo:
        r, c = todo.pop()
        k = r if who == 1 else c
        lo, hi = lo or k == 0, hi or k == N - 1
        for dr, dc in NB:
            q = (r + dr, c + dc)
            if 0 <= q[0] < N and 0 <= q[1] < N and q not in seen and board[q] == who:
                seen.add(q)
                todo.append(q)
    return lo and hi


def play(rng):
    board, rows, who = np.zeros((N, N), np.int8), [], 1
    for flat in rng.permutation(N * N):
        at = (int(flat) // N, int(flat) % N)
        board[at] = who
        rows.append(np.stack([board == 1, board == 2, np.full((N, N), who == 1)], -1).astype(np.float32))
        if won(board, who, at):
            return rows, 1.0 if who == 1 else -1.0
        who = 3 - who


def batch(rng, games):
    xs, ys = [], []
    for _ in range(games):
        rows, z = play(rng)
        xs += rows
        ys += [z] * len(rows)
    return np.stack(xs), np.array(ys, np.float32)


model = Value()
tx = optax.adam(3e-3)


@jax.jit
def update(params, opt, x, y):
    def f(p):
        return jnp.mean((model.apply(p, x) - y) ** 2)
    loss, g = jax.value_and_grad(f)(params)
    up, opt = tx.update(g, opt)
    return optax.apply_updates(params, up), opt, loss


def main():
    rng = np.random.default_rng(4)
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, N, N, 3)))
    opt = tx.init(params)
    positions, t0, avg = 0, time.time(), None
    for u in range(1, 1_000_000):
        x, y = batch(rng, int(rng.integers(4, 25)))
        params, opt, loss = update(params, opt, x, y)
        avg = float(loss) if avg is None else .95 * avg + .05 * float(loss)
        positions += len(y)
        if u % 2 == 1:
            print(f"update {u:>6}  value mse {avg:.4f}  {positions} positions, {positions / (time.time() - t0):.0f}/s", flush=True)


if __name__ == "__main__":
    main()
