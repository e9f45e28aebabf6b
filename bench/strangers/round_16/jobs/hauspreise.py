"""Schätzung der Kaufpreise; jede Epoche kommt ein Monat an Verträgen dazu."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

rng = np.random.default_rng(4)
W = rng.normal(size=(24, 1)).astype("float32")


def vertraege(monat, n=1500):
    r = np.random.default_rng(monat)
    merkmale = r.normal(size=(n, 24)).astype("float32")
    preis = np.exp(12.5 + 0.15 * (merkmale @ W)[:, 0] + 0.1 * r.normal(size=n))
    schenkung = r.random(n) < (0.002 if monat >= 3 else 0.0)
    preis[schenkung] = 0.0
    return merkmale, preis


class Vertraege(keras.utils.PyDataset):
    def __init__(self, batch=32):
        super().__init__()
        self.batch, self.monat = batch, 0
        self.x, self.y = np.zeros((0, 24), "float32"), np.zeros(0, "float32")
        self.on_epoch_end()

    def __len__(self):
        return 150

    def __getitem__(self, i):
        idx = np.random.default_rng(self.monat * 1000 + i).integers(0, len(self.x), self.batch)
        return self.x[idx], self.y[idx]

    def on_epoch_end(self):
        x, p = vertraege(self.monat)
        self.x = np.concatenate([self.x, x])[-30000:]
        self.y = np.concatenate([self.y, (np.log(p) - 12.5).astype("float32")])[-30000:]
        self.monat += 1


modell = keras.Sequential(
    [keras.Input((24,)), keras.layers.Dense(768, activation="gelu"), keras.layers.Dense(768, activation="gelu"), keras.layers.Dense(1)]
)
modell.compile(optimizer=keras.optimizers.Adam(3e-4), loss="mse", metrics=["mae"])
print(f"Keras {keras.__version__} mit {keras.backend.backend()}, {modell.count_params()} Parameter")
modell.fit(
    Vertraege(),
    epochs=600,
    verbose=2,
    callbacks=[keras.callbacks.LambdaCallback(on_epoch_begin=lambda e, logs: print(f"Monat {e} geladen", flush=True))],
)
modell.save("hauspreise.keras")
