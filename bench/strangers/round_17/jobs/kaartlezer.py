"""Handgeschreven perceelnummers op oude kadasterkaarten, skorch."""
import signal

import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from torch import nn
from torch.utils.data import Dataset


class Percelen(Dataset):
    def __init__(self, n=3000):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = np.random.default_rng(i)
        cijfer = i % 10
        vel = g.normal(0, 1, (1, 20, 20)).astype("float32")
        vel[0, cijfer:cijfer + 6, 4:16] += 1.0
        for _ in range(4):
            vel = vel + 0.05 * np.roll(vel, 1, axis=2)
        return vel, cijfer


class Voortgang(Callback):
    def on_batch_end(self, net, training=False, **kw):
        self.n = getattr(self, "n", 0) + 1
        if training and self.n % 40 == 0:
            print(f"partij {self.n}: verlies {net.history[-1, 'batches', -1, 'train_loss']:.3f}", flush=True)


if __name__ == "__main__":
    signal.alarm(240)
    net = NeuralNetClassifier(
        nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12 * 81, 10)),
        criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=5e-4, max_epochs=1000, batch_size=32, train_split=None,
        iterator_train__num_workers=2, iterator_train__persistent_workers=True, iterator_train__shuffle=True, callbacks=[Voortgang()])
    net.fit(Percelen(), None)
