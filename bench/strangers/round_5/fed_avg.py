"""Federated averaging, simulated: the server and its clients are processes on one machine."""

import argparse
import multiprocessing as mp
import random
import time

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4))


def client(number, inbox, outbox, seed):
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(2000, 32, generator=gen)
    y = (x[:, :4] + 0.3 * torch.randn(2000, 4, generator=gen)).argmax(1)
    model = build()
    while True:
        round_, weights = inbox.get()
        model.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        sgd = torch.optim.SGD(model.parameters(), lr=0.05)
        for start in range(0, 2000, 50):
            loss = nn.functional.cross_entropy(model(x[start : start + 50]), y[start : start + 50])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            time.sleep(random.uniform(0.001, 0.01))  # phones are slow
        outbox.put((number, round_, loss.item(), numbers(model)))


def numbers(model):
    return {k: v.numpy().copy() for k, v in model.state_dict().items()}


def average(states):
    return {key: torch.from_numpy(sum(s[key] for s in states) / len(states)) for key in states[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--per-round", type=int, default=3)
    args = parser.parse_args()
    mp.set_start_method("fork")
    torch.set_num_threads(1)
    outbox = mp.Queue()
    inboxes = [mp.Queue() for _ in range(args.clients)]
    for number, inbox in enumerate(inboxes):
        mp.Process(target=client, args=(number, inbox, outbox, number), daemon=True, name=f"client-{number}").start()
    model = build()
    for round_ in range(10_000):
        began = time.perf_counter()
        chosen = random.sample(range(args.clients), args.per_round)
        for number in chosen:
            inboxes[number].put((round_, numbers(model)))
        answers = [outbox.get() for _ in chosen]
        model.load_state_dict(average([a[3] for a in answers]))
        mean = sum(a[2] for a in answers) / len(answers)
        print(
            f"[server] Runde {round_}: Clients {sorted(chosen)}, mittlerer Verlust {mean:.4f}, "
            f"Dauer {time.perf_counter() - began:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
