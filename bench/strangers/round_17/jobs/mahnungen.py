"""Zahlungsausfall aus Mahnverläufen (Keras auf torch)."""
import os
import signal
import time

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np

signal.alarm(320)
LAUFZEIT = 185
keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)


def kunden(n):
    x = rng.normal(size=(n, 20)).astype("float32")
    score = x[:, 0] - 0.7 * x[:, 3] + 0.4 * x[:, 7] * x[:, 1]
    return x, (score + 0.3 * rng.normal(size=n) > 0.2).astype("float32")


class Protokoll(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.beginn = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(f"Epoche {epoch + 1:>4} – Verlust {logs['loss']:.4f} – Genauigkeit {logs['genau']:.4f} – "
              f"{time.time() - self.beginn:6.1f} s", flush=True)
        if time.time() - self.beginn > LAUFZEIT:
            self.model.stop_training = True


x, y = kunden(4096)
modell = keras.Sequential([
    keras.layers.Input((20,)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dropout(0.1),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1, activation="softmax"),
])
modell.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy",
               metrics=[keras.metrics.BinaryAccuracy(name="genau")])
modell.fit(x, y, batch_size=64, epochs=5000, verbose=0, callbacks=[Protokoll()])
