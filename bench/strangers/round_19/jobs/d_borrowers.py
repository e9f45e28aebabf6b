"""Default of small loans from the accounts of the borrowers (skorch)."""
import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from torch import nn


def accounts(n=6000, seed=3):
    """Income, balance, instalment, debts and so on, in cents as the bank exports them."""
    r = np.random.default_rng(seed)
    base = r.lognormal(12.5, 0.6, size=(n, 1))
    share = r.uniform(0.05, 0.9, size=(n, 18))
    risk = share[:, :6].mean(1) - share[:, 6:12].mean(1) + 0.1 * r.normal(size=n)
    return (base * share).astype("f4"), (risk > 0).astype("f4").reshape(-1, 1)


class Scorer(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Linear(18, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1), nn.Sigmoid())

    def forward(self, x):
        return self.stack(x)


class Norms(Callback):
    def on_epoch_begin(self, net, **kw):
        self.seen = []

    def on_grad_computed(self, net, named_parameters, **kw):
        self.seen.append(sum(float(p.grad.pow(2).sum()) for _, p in named_parameters) ** 0.5)

    def on_epoch_end(self, net, **kw):
        net.history.record("grad_norm", float(np.mean(self.seen)))


if __name__ == "__main__":
    torch.manual_seed(5)
    x, y = accounts()
    net = NeuralNetClassifier(
        Scorer, criterion=nn.BCELoss, optimizer=torch.optim.SGD, lr=0.01, batch_size=64, max_epochs=3000,
        iterator_train__shuffle=True, train_split=None, classes=[0, 1], callbacks=[("norms", Norms())])
    net.fit(x, y)
