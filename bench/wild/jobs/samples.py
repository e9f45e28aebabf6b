"""Small data sets that can be learned."""

import numpy as np
import torch
from torch.utils.data import Dataset


class Tokens(Dataset):
    """Sequences in which each token mostly follows from the one before."""

    def __init__(self, count=4096, length=64, vocabulary=101):
        self.count, self.length, self.vocabulary = count, length, vocabulary

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        tokens = np.empty(self.length, dtype=np.int64)
        tokens[0] = rng.integers(self.vocabulary)
        noise = rng.random(self.length) < 0.1
        for i in range(1, self.length):
            tokens[i] = rng.integers(self.vocabulary) if noise[i] else (tokens[i - 1] * 7 + 3) % self.vocabulary
        tokens = torch.from_numpy(tokens)
        return {"input_ids": tokens, "labels": tokens.clone()}


class Pictures(Dataset):
    """Noise with a faint pattern of the class."""

    def __init__(self, count=4096, size=32, classes=10):
        self.count, self.size, self.classes = count, size, classes
        self.patterns = torch.randn(classes, 3, size, size, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        target = index % self.classes
        noise = torch.randn(3, self.size, self.size, generator=torch.Generator().manual_seed(index))
        return noise + 0.3 * self.patterns[target], target


class Rows(Dataset):
    """Vectors and a number that is a smooth function of them."""

    def __init__(self, count=8192, width=32):
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=(count, width)).astype(np.float32)
        self.y = (np.sin(self.x[:, :4]).sum(1) + 0.1 * rng.normal(size=count)).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def rows(count=20000, width=32, seed=0):
    """A table for libraries of decision trees: numbers and a class."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, width)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] + x[:, 2] + 0.3 * rng.normal(size=count) > 0).astype(np.int64)
    return x, y
