"""Trains small real models, healthy and sick, and keeps their curves: `python tests/data/curves/record.py [NAME ...]`.

Each function trains for some seconds on one core and yields one row of numbers a step; they become NAME.csv here.
What must be found on each stands in tests/symptoms/test_curves.py.
"""

from __future__ import annotations

import csv
import inspect
import math
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

FOLDER = Path(__file__).parent
Row = dict[str, float]
Schedule = Callable[[int], float]
BATCH, CONTEXT, WIDTH = 8, 32, 48


class Block(nn.Module):
    """A transformer block."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Causal attention and a feed-forward net."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.one(x)).view(batch, length, 3, 4, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, -1))
        result: Tensor = x + self.mlp(self.two(x))
        return result


class Language(nn.Module):
    """A language model over bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(128, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(Block(), Block(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 128))

    def forward(self, ids: Tensor) -> Tensor:
        """The loss of the next byte."""
        x = self.token(ids[:, :-1]) + self.place(torch.arange(ids.shape[1] - 1))
        return functional.cross_entropy(self.blocks(x).flatten(0, 1), ids[:, 1:].flatten())


TEXT = torch.tensor(list(inspect.getsource(textwrap).encode("ascii", "replace"))) % 128


def text_batch(size: int = BATCH, text: Tensor = TEXT) -> Tensor:
    """Windows of the standard library's own source."""
    return torch.stack([text[i : i + CONTEXT + 1] for i in torch.randint(0, len(text) - CONTEXT - 1, (size,)).tolist()])


def cosine(peak: float, steps: int, warm: int = 40) -> Schedule:
    """Linear warm-up, then a cosine to a tenth."""

    def at(step: int) -> float:
        if step < warm:
            return peak * (step + 1) / warm
        return peak * (0.55 + 0.45 * math.cos(math.pi * (step - warm) / (steps - warm)))

    return at


def constant(lr: float) -> Schedule:
    """One learning rate."""
    return lambda step: lr


def train(
    model: nn.Module,
    loss_of: Callable[[int], Tensor],
    lr: Schedule,
    steps: int,
    *,
    clip: float | None = 1.0,
    optimizer: torch.optim.Optimizer | None = None,
    begin: int = 0,
) -> Iterator[Row]:
    """The usual loop: one row a step."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=1.0)
    for step in range(begin, steps):
        for group in optimizer.param_groups:
            group["lr"] = lr(step)
        loss = loss_of(step)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf)
        optimizer.step()
        yield {"step": step + 1, "loss": loss.item(), "lr": lr(step), "grad_norm": norm.item()}


def lm_cosine() -> Iterator[Row]:
    """A language model as it should be."""
    model = Language()
    return train(model, lambda step: model(text_batch()), cosine(3e-3, 500), 500)


def lm_tiny_batch() -> Iterator[Row]:
    """One window a step: as noisy as it gets."""
    model = Language()
    return train(model, lambda step: model(text_batch(1)), cosine(2e-3, 500), 500)


def lm_restarts() -> Iterator[Row]:
    """Warm restarts: the loss rises each time that the learning rate does."""
    model = Language()

    def lr(step: int) -> float:
        return 6e-3 * (0.51 + 0.49 * math.cos(math.pi * (step % 150) / 150))

    return train(model, lambda step: model(text_batch()), lr, 600)


def lm_wsd() -> Iterator[Row]:
    """Warm-up, a long constant stretch, and a drop at the end."""
    model = Language()

    def lr(step: int) -> float:
        return 2e-3 * min(1.0, (step + 1) / 30, max(0.0, (600 - step) / 100))

    return train(model, lambda step: model(text_batch()), lr, 600)


def lm_resume() -> Iterator[Row]:
    """Goes back to the checkpoint of step 300 without the optimizer's state."""
    model = Language()
    kept: dict[str, Tensor] = {}
    for row in train(model, lambda step: model(text_batch()), cosine(3e-3, 600), 360):
        if row["step"] == 300:
            kept = {name: value.clone() for name, value in model.state_dict().items()}
        yield row
    model.load_state_dict(kept)
    yield from train(model, lambda step: model(text_batch()), cosine(3e-3, 600), 600, begin=300)


def lm_curriculum() -> Iterator[Row]:
    """Text over few letters first; from step 250 on the real text, whose loss is higher."""
    model = Language()
    easy = TEXT % 16
    return train(model, lambda step: model(text_batch(text=easy if step < 250 else TEXT)), cosine(3e-3, 600), 600)


def lm_bad_batch() -> Iterator[Row]:
    """Three batches of noise: the loss jumps and comes back."""
    model = Language()

    def loss(step: int) -> Tensor:
        ids = torch.randint(0, 128, (BATCH, CONTEXT + 1)) if 300 <= step < 303 else text_batch()
        result: Tensor = model(ids)
        return result

    return train(model, loss, constant(3e-3), 500)


def lm_spike_recovers() -> Iterator[Row]:
    """The weights are hurt at step 300, and mend within some tens of steps."""
    model = Language()

    def loss(step: int) -> Tensor:
        if step == 300:
            hurt(model, 0.25)
        result: Tensor = model(text_batch())
        return result

    return train(model, loss, constant(3e-3), 500)


def lm_spike_stays() -> Iterator[Row]:
    """The weights are hurt badly while the learning rate is nearly 0: the loss stays up."""
    model = Language()

    def loss(step: int) -> Tensor:
        if step == 400:
            hurt(model, 0.5)
        result: Tensor = model(text_batch())
        return result

    return train(model, loss, lambda step: 3e-3 if step < 400 else 1e-5, 430)


def hurt(model: nn.Module, by: float) -> None:
    """Add noise to all weights."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(by * torch.randn_like(weight))


def lm_high_lr() -> Iterator[Row]:
    """Learns, then the learning rate passes what it can bear: it ends above where it began."""
    model = Language()
    return train(model, lambda step: model(text_batch()), lambda step: 1e-3 * 1.012**step, 520, clip=None)


def lm_high_lr_sgd() -> Iterator[Row]:
    """Plain descent with far too high a learning rate from the first step."""
    model = Language()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    return train(model, lambda step: model(text_batch()), constant(3.0), 200, clip=None, optimizer=optimizer)


def lm_frozen() -> Iterator[Row]:
    """The scheduler gives a learning rate of 0 from the start: batches differ, the model does not learn."""
    model = Language()
    return train(model, lambda step: model(text_batch(64)), constant(0.0), 400)


def lm_lr_ends() -> Iterator[Row]:
    """The schedule was made for 200 steps, the training has 500: the learning rate is 0 for the rest."""
    model = Language()
    return train(model, lambda step: model(text_batch()), lambda step: 3e-3 * max(0.0, 1 - step / 200), 500)


def lm_finetune() -> Iterator[Row]:
    """Fine-tuning: begins low, stays flat and noisy."""
    model = Language()
    for _ in train(model, lambda step: model(text_batch(16)), cosine(3e-3, 700), 700):
        pass
    yield from train(model, lambda step: model(text_batch(4)), cosine(3e-5, 400), 400)


def lm_converged() -> Iterator[Row]:
    """One batch by heart: the loss lies at the floor for the last half of the schedule."""
    model = Language()
    batch = text_batch(2)
    return train(model, lambda step: model(batch), cosine(3e-3, 500), 500)


def regression(lr: Schedule, steps: int, size: int = 32) -> Iterator[Row]:
    """Fits a random function with noise by plain descent."""
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
    weight = torch.randn(8)

    def loss(step: int) -> Tensor:
        x = torch.randn(size, 8)
        y = torch.sin(x @ weight) + 0.3 * torch.randn(size)
        return functional.mse_loss(model(x).squeeze(1), y)

    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return train(model, loss, lr, steps, clip=None, optimizer=optimizer)


def mlp_regression() -> Iterator[Row]:
    """Falls, then lies on the noise of its data with a constant learning rate."""
    return regression(constant(0.05), 600)


def mlp_diverges() -> Iterator[Row]:
    """Too high a learning rate for plain descent: up to infinity in some tens of steps."""
    model = nn.Linear(256, 1)

    def loss(step: int) -> Tensor:
        x = torch.randn(64, 256)
        return functional.mse_loss(model(x).squeeze(1), x.sum(1) / 16)

    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return train(model, loss, constant(0.28), 300, clip=None, optimizer=optimizer)


def dead_relu() -> Iterator[Row]:
    """All units are dead: the gradient is exactly 0 and nothing is learnt."""
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1, bias=False))
    with torch.no_grad():
        model[0].bias.fill_(-50.0)
    x, y = torch.randn(256, 8), torch.randn(256)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def loss(step: int) -> Tensor:
        pick = torch.randint(0, 256, (32,))
        return functional.mse_loss(model(x[pick]).squeeze(1), y[pick])

    return train(model, loss, constant(0.01), 120, clip=None, optimizer=optimizer)


def deep_sigmoid() -> Iterator[Row]:
    """Forty sigmoid layers, no residuals: the first layers learn nothing; the loss lies at the entropy of the labels."""
    layers = [part for _ in range(40) for part in (nn.Linear(32, 32), nn.Sigmoid())]
    model = nn.Sequential(*layers, nn.Linear(32, 10))

    def loss(step: int) -> Tensor:
        x = torch.randn(128, 32)
        return functional.cross_entropy(model(x), x[:, :10].argmax(1))

    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    rows = train(model, loss, constant(0.001), 3000, clip=None, optimizer=optimizer)
    return (row for row in rows if row["step"] % 5 == 0)


def images() -> tuple[nn.Module, Callable[[int], Tensor], int]:
    """A small convolutional net on ten patterns in noise; 60 batches an epoch."""
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10)
    )
    patterns = torch.randn(10, 1, 12, 12)
    labels = torch.randint(0, 10, (60 * 32,))
    x = 0.35 * patterns[labels] + torch.randn(len(labels), 1, 12, 12)

    def loss(step: int) -> Tensor:
        at = 32 * (step % 60)
        return functional.cross_entropy(model(x[at : at + 32]), labels[at : at + 32])

    return model, loss, 60


def cnn_epochs() -> Iterator[Row]:
    """Epochs over the same data with a staircase of learning rates: the loss drops at each stair, down to a few percent."""
    model, loss, epoch = images()
    return train(model, loss, lambda step: 2e-3 * 0.3 ** (step // (3 * epoch)), 9 * epoch)


def cnn_running_mean() -> Iterator[Row]:
    """The same, telling the mean since the start of the epoch, as bars do."""
    total = 0.0
    model, loss, epoch = images()
    for row in train(model, loss, constant(1e-3), 9 * epoch):
        at = (int(row["step"]) - 1) % epoch
        total = (0.0 if at == 0 else total) + row["loss"]
        yield {**row, "loss": total / (at + 1)}


def cnn_eval_lines() -> Iterator[Row]:
    """Each 30 steps the loss over held-out noise is told under the same name."""
    model, loss, epoch = images()
    for row in train(model, loss, constant(1e-3), 9 * epoch):
        yield {**row, "loss": row["loss"] * 1.9 + 0.5} if row["step"] % 30 == 0 else row


def diffusion() -> Iterator[Row]:
    """A denoiser: its loss is flat and noisy for nearly the whole run, while the samples get better."""
    model = nn.Sequential(nn.Linear(3, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 2))

    def loss(step: int) -> Tensor:
        angle, t, noise = torch.rand(64, 1) * 6.283, torch.rand(64, 1), torch.randn(64, 2)
        x = torch.cat([angle.cos(), angle.sin()], 1)
        noisy = torch.cos(1.5708 * t) * x + torch.sin(1.5708 * t) * noise
        return functional.mse_loss(model(torch.cat([noisy, t], 1)), noise)

    return train(model, loss, constant(1e-3), 1200)


def vae_annealed() -> Iterator[Row]:
    """A variational autoencoder whose KL weight grows from 0: the loss rises although all is well."""
    encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
    decoder = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 16))
    mix = torch.randn(4, 16)

    def loss(step: int) -> Tensor:
        x = torch.randn(64, 4) @ mix + 0.1 * torch.randn(64, 16)
        mean, log_var = encoder(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        kl = 0.5 * (mean**2 + log_var.exp() - 1 - log_var).sum(1).mean()
        return functional.mse_loss(decoder(z), x, reduction="none").sum(1).mean() + min(1.0, step / 500) * kl

    return train(nn.ModuleList([encoder, decoder]), loss, constant(2e-3), 800)


def gan(which: str) -> Iterator[Row]:
    """An adversarial game on eight blobs: both losses swing, neither falls."""
    make = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    judge = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    one = torch.optim.Adam(make.parameters(), lr=1e-3, betas=(0.5, 0.999))
    two = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
    for step in range(1, 1201):
        angle = torch.randint(0, 8, (64,)) * 0.7854
        real = 2 * torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(64, 2)
        fake = make(torch.randn(64, 8))
        reported, lied = judge(real), judge(fake.detach())
        judged = functional.softplus(-reported).mean() + functional.softplus(lied).mean()
        two.zero_grad()
        judged.backward()
        two.step()
        made = functional.softplus(-judge(fake)).mean()
        one.zero_grad()
        made.backward()
        one.step()
        yield {"step": step, "loss": (made if which == "generator" else judged).item(), "lr": 1e-3}


def gan_generator() -> Iterator[Row]:
    """The generator's side."""
    return gan("generator")


def gan_judge() -> Iterator[Row]:
    """The discriminator's side."""
    return gan("judge")


def actor_critic(which: str) -> Iterator[Row]:
    """Balances a pole: rewards grow, so the critic's loss grows with them; the actor's swings around 0."""
    actor, critic = (nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, size)) for size in (2, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
    for episode in range(1, 401):
        state, seen, chosen, rewards = 0.1 * torch.rand(4) - 0.05, [], [], []
        for _ in range(200):
            odds = torch.distributions.Categorical(logits=actor(state))
            action = odds.sample()
            seen.append(critic(state).squeeze())
            chosen.append(odds.log_prob(action))
            rewards.append(1.0)
            state = pole(state, 10.0 if action.item() else -10.0)
            if abs(state[0]) > 2.4 or abs(state[2]) > 0.21:
                break
        returns = torch.tensor([sum(0.98**k for k in range(len(rewards) - i)) for i in range(len(rewards))])
        values = torch.stack(seen)
        policy = -(torch.stack(chosen) * (returns - values.detach())).mean()
        value = functional.mse_loss(values, returns)
        optimizer.zero_grad()
        (policy + 0.5 * value).backward()
        optimizer.step()
        yield {"step": episode, "loss": {"actor": policy, "critic": value}[which].item(), "lr": 3e-3}


def pole(state: Tensor, force: float) -> Tensor:
    """One step of Barto, Sutton and Anderson's cart and pole."""
    x, speed, angle, turn = state.tolist()
    push = (force + 0.05 * turn**2 * math.sin(angle)) / 1.1
    bend = (9.8 * math.sin(angle) - math.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
    drive = push - 0.05 * bend * math.cos(angle) / 1.1
    return torch.tensor([x + 0.02 * speed, speed + 0.02 * drive, angle + 0.02 * turn, turn + 0.02 * bend])


def rl_actor() -> Iterator[Row]:
    """The policy's side."""
    return actor_critic("actor")


def rl_critic() -> Iterator[Row]:
    """The value's side."""
    return actor_critic("critic")


def rnn(clip: float | None, lr: float, steps: int) -> Iterator[Row]:
    """A recurrent net that must remember; without clipping its gradients explode."""
    cell, out = nn.RNN(2, 48), nn.Linear(48, 1)
    model = nn.ModuleList([cell, out])

    def loss(step: int) -> Tensor:
        x = torch.rand(40, 32, 2)
        x[..., 1] = 0.0
        first, second = torch.randint(0, 20, (32,)), torch.randint(20, 40, (32,))
        x[first, torch.arange(32), 1] = x[second, torch.arange(32), 1] = 1.0
        y = x[first, torch.arange(32), 0] + x[second, torch.arange(32), 0]
        return functional.mse_loss(out(cell(x)[0][-1]).squeeze(1), y)

    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    return train(model, loss, constant(lr), steps, clip=clip, optimizer=optimizer)


def rnn_clipped() -> Iterator[Row]:
    """Heavy-tailed gradient norms, all clipped: no fault."""
    return rnn(1.0, 0.02, 400)


def rnn_explodes() -> Iterator[Row]:
    """No clipping and a growing recurrent weight: the gradients explode and stay so."""
    cell, out = nn.RNN(2, 48, nonlinearity="relu"), nn.Linear(48, 1)
    model = nn.ModuleList([cell, out])
    with torch.no_grad():
        cell.weight_hh_l0.copy_(0.9 * torch.eye(48))

    def loss(step: int) -> Tensor:
        if step >= 200:
            with torch.no_grad():
                cell.weight_hh_l0.mul_(1.004)
        x = torch.rand(40, 32, 2)
        return functional.mse_loss(out(cell(x)[0][-1]).squeeze(1), x[:5, :, 0].sum(0))

    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return train(model, loss, constant(1e-5), 260, clip=None, optimizer=optimizer)


def scaled(is_sick: bool) -> Iterator[Row]:
    """Half precision with torch's own loss scaler: its first search, its steady saw, and, sick, its fall."""
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=40)
    for step in range(1, 401):
        x = torch.randn(32, 16)
        loss = functional.mse_loss(model(x).squeeze(1), x[:, 0])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        for weight in model.parameters():
            assert weight.grad is not None
            weight.grad = weight.grad.half().float()  # what the backward pass of a half-precision model leaves
            if is_sick and step > 300:
                weight.grad[0] = math.inf  # as a layer does whose activations have left the range of fp16
        scaler.step(optimizer)
        scaler.update()
        yield {"step": step, "loss": loss.item(), "lr": 1e-3, "loss_scale": scaler.get_scale()}


def fp16_healthy() -> Iterator[Row]:
    """Searches down at first, then doubles and halves for ever."""
    return scaled(is_sick=False)


def fp16_overflow() -> Iterator[Row]:
    """From step 300 on each step overflows."""
    return scaled(is_sick=True)


def timed(work: Callable[[int], None], steps: int, pause: Callable[[int], float] = lambda step: 0.0) -> Iterator[Row]:
    """The real time of each step."""
    for step in range(1, steps + 1):
        begin = time.perf_counter()
        work(step)
        if seconds := pause(step):
            time.sleep(seconds)
        yield {"step": step, "step_time_s": time.perf_counter() - begin}


def matrices(size: int, times: int = 1) -> None:
    """Some work."""
    for _ in range(times):
        torch.randn(size, size) @ torch.randn(size, size)


def time_steady() -> Iterator[Row]:
    """A slow first step, an evaluation each 100 steps, a checkpoint each 70."""

    def pause(step: int) -> float:
        return 0.6 if step == 1 else 0.15 if step % 100 == 0 else 0.08 if step % 70 == 0 else 0.0

    return timed(lambda step: matrices(250, 4), 500, pause)


def time_eval_stretch() -> Iterator[Row]:
    """Each 150 steps eight of evaluation are told as well, three times as slow."""
    return timed(lambda step: matrices(250, 12 if step % 150 >= 142 else 4), 500)


def time_lengths() -> Iterator[Row]:
    """Sequences of any length: each step has its own time."""
    return timed(lambda step: matrices(int(150 + 300 * torch.rand(1).item()), 3), 500)


def time_sorted() -> Iterator[Row]:
    """Batches sorted by length within groups of 60: a saw."""
    return timed(lambda step: matrices(150 + 4 * (step % 60), 3), 500)


def time_buckets() -> Iterator[Row]:
    """Stretches of 5 to 20 steps from one of three length buckets."""
    lengths = [
        size
        for _ in range(60)
        for size in [(200, 260, 330)[int(torch.randint(3, (1,)))]] * int(torch.randint(5, 20, (1,)))
    ]
    return timed(lambda step: matrices(lengths[step], 3), 500)


def time_drop() -> Iterator[Row]:
    """From step 300 on 40 % more work, as with a neighbour on the machine."""
    return timed(lambda step: matrices(300, 5 if step < 300 else 7), 400)


def time_rising() -> Iterator[Row]:
    """A list that grows and is walked each step."""
    kept: list[float] = []

    def work(step: int) -> None:
        matrices(250, 4)
        kept.extend([0.5] * 900)
        sum(kept)

    return timed(work, 500)


RUNS: tuple[Callable[[], Iterator[Row]], ...] = (
    lm_cosine, lm_tiny_batch, lm_restarts, lm_wsd, lm_resume, lm_curriculum, lm_bad_batch, lm_spike_recovers, lm_spike_stays,
    lm_high_lr, lm_high_lr_sgd, lm_frozen, lm_lr_ends, lm_finetune, lm_converged, mlp_regression, mlp_diverges, dead_relu,
    deep_sigmoid, cnn_epochs, cnn_running_mean, cnn_eval_lines, diffusion, vae_annealed, gan_generator, gan_judge, rl_actor,
    rl_critic, rnn_clipped, rnn_explodes, fp16_healthy, fp16_overflow, time_steady, time_eval_stretch, time_lengths,
    time_sorted, time_buckets, time_drop, time_rising,
)  # fmt: skip


def record(run: Callable[[], Iterator[Row]]) -> None:
    """Train and write, five digits a number."""
    torch.manual_seed(7)
    rows = list(run())
    with (FOLDER / f"{run.__name__}.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(rows[0])
        table.writerows([f"{value:.5g}" for value in row.values()] for row in rows)


if __name__ == "__main__":
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    for one in RUNS:
        if not sys.argv[1:] or one.__name__ in sys.argv[1:]:
            started = time.perf_counter()
            record(one)
            print(f"{one.__name__}: {time.perf_counter() - started:.1f} s", flush=True)
