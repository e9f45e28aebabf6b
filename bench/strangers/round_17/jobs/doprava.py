"""Předpověď dopravy na křižovatkách, Keras s jádrem torch. Učení po lekcích, od krátkých oken k dlouhým."""
import time

import keras
import numpy as np

keras.utils.set_random_seed(2)
g = np.random.default_rng(2)


def okna(n, sum_):
    faze = g.uniform(0, 6.28, (n, 1))
    t = np.arange(48)[None]
    rada = np.sin(t / 4 + faze) + 0.4 * np.sin(t / 1.3) + sum_ * g.standard_normal((n, 48))
    return rada[:, :40, None].astype("float32"), rada[:, 47].astype("float32")


class Zaznam(keras.callbacks.Callback):
    def __init__(self, lekce):
        super().__init__()
        self.lekce = lekce

    def on_train_batch_end(self, batch, logs=None):
        if batch % 20 == 0:
            print(f"lekce {self.lekce} dávka {batch} ztráta {logs['loss']:.4f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        print(f"lekce {self.lekce} epocha {epoch} val {logs['val_loss']:.4f} lr {float(self.model.optimizer.learning_rate):.2e}", flush=True)
        self.model.save("doprava.keras")


model = keras.Sequential([
    keras.layers.Input((40, 1)), keras.layers.Conv1D(16, 5, activation="relu"), keras.layers.Conv1D(16, 5, strides=2, activation="relu"),
    keras.layers.Flatten(), keras.layers.Dense(48, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(4e-4), "mse")
konec = time.time() + 170
vx, vy = okna(2000, 0.4)
for lekce, sum_ in enumerate([0.1, 0.25, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0]):
    x, y = okna(6000, sum_)
    for kolo in range(4):
        if time.time() > konec:
            raise SystemExit
        model.fit(x, y, epochs=1, batch_size=64, verbose=0, validation_data=(vx, vy), callbacks=[Zaznam(lekce)])
while time.time() < konec:
    x, y = okna(6000, 1.0)
    model.fit(x, y, epochs=1, batch_size=64, verbose=0, validation_data=(vx, vy), callbacks=[Zaznam(99)])
