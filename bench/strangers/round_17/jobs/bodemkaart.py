"""Bodemtype per kaarttegel (skorch). De tegels komen uit de tegeldienst, met een limiet op het aantal aanvragen."""
import multiprocessing
import signal
import time

import numpy as np
import torch
from skorch import NeuralNetClassifier
from skorch.callbacks import Callback
from torch import nn
from torch.utils.data import Dataset

AANVRAGEN_PER_SECONDE = 25
DUUR = 190


class Tegeldienst:
    """Beleefde toegang: alle processen samen houden zich aan de limiet."""

    def __init__(self, per_seconde):
        self.tussentijd = 1.0 / per_seconde
        self.slot = multiprocessing.Lock()
        self.volgende = multiprocessing.Value("d", time.monotonic())

    def haal(self, nummer):
        with self.slot:
            wacht = self.volgende.value - time.monotonic()
            if wacht > 0:
                time.sleep(wacht)
            self.volgende.value = max(self.volgende.value, time.monotonic()) + self.tussentijd
        rng = np.random.default_rng(nummer)
        soort = nummer % 5
        tegel = rng.normal(size=(4, 32, 32)).astype(np.float32)
        tegel[soort % 4] += 0.4 + 0.3 * soort
        return tegel, soort


class Tegels(Dataset):
    def __init__(self, dienst, aantal):
        self.dienst = dienst
        self.aantal = aantal

    def __len__(self):
        return self.aantal

    def __getitem__(self, i):
        return self.dienst.haal(int(i))


class Netwerk(nn.Module):
    def __init__(self):
        super().__init__()
        self.lagen = nn.Sequential(nn.Conv2d(4, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                   nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5))

    def forward(self, x):
        return self.lagen(x)


class Voortgang(Callback):
    def on_train_begin(self, net, **kwargs):
        self.begin = self.vorige = time.time()
        self.partij = 0

    def on_batch_end(self, net, batch=None, training=False, loss=None, **kwargs):
        if not training:
            return
        self.partij += 1
        nu = time.time()
        print(f"partij {self.partij} verlies {loss.item():.3f} duur {nu - self.vorige:.2f}s", flush=True)
        self.vorige = nu
        if nu - self.begin > DUUR:
            raise KeyboardInterrupt


if __name__ == "__main__":
    signal.alarm(300)
    torch.manual_seed(0)
    net = NeuralNetClassifier(
        Netwerk, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=1e-3, max_epochs=500, batch_size=16,
        train_split=None, iterator_train__num_workers=2, iterator_train__shuffle=True, callbacks=[Voortgang()])
    net.fit(Tegels(Tegeldienst(AANVRAGEN_PER_SECONDE), 1600), y=None)
    print("klaar")
