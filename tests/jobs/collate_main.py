"""Fault: texts are tokenized and padded in pure Python between the steps, in the training process.

Symptom: input-bound-workers. Start: python.
"""

import logging
import random
import re
import signal
from itertools import pairwise

import torch

signal.alarm(300)
torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s")
PARTS = ("al", "pha", "be", "ta", "gam", "ma", "del", "un", "re", "ing", "tion", "s")
CORPUS = [" ".join(random.choice(PARTS) + random.choice(PARTS) for _ in range(400)) for _ in range(200)]
MERGES = {("a", "l"): 0, ("t", "a"): 1, ("i", "n"): 2, ("al", "p"): 3, ("b", "e"): 4}


def tokenize(text):
    ids = []
    for word in re.findall(r"\w+", text):
        parts = list(word)
        while len(parts) > 1:
            order, at = min((MERGES.get(pair, 99), k) for k, pair in enumerate(pairwise(parts)))
            if order == 99:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        ids.extend(hash(part) % 1000 for part in parts)
    return ids


def collate_fn(texts):
    rows = [torch.tensor(tokenize(text)[:64]) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def main():
    model = torch.nn.Sequential(torch.nn.Embedding(1000, 32), torch.nn.Linear(32, 1000))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 100_000):
        ids = collate_fn(random.sample(CORPUS, 8))
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        logging.info("step %d - loss %.4f", step, loss.item())


main()
