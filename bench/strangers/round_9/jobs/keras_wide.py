import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from keras import layers


def tables(rows=60_000, columns=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype("float32")
    y = np.tanh(x[:, :8]).sum(1) + x[:, 8] * x[:, 9] + 0.3 * rng.normal(size=rows)
    return x, y.astype("float32")


def wide(columns):
    inputs = keras.Input((columns,))
    h = layers.Dense(1600, activation="relu")(inputs)
    h = layers.Dropout(0.1)(h)
    h = layers.Dense(1600, activation="relu")(h)
    h = layers.Dense(400, activation="relu")(h)
    return keras.Model(inputs, layers.Dense(1)(h), name="wide")


class Progress(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 5 == 0:
            print(f"{self.model.name} batch {batch}: loss={logs['loss']:.4f} mae={logs['mae']:.4f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch} " + " ".join(f"{k}={v:.4f}" for k, v in logs.items()), flush=True)


def main():
    keras.utils.set_random_seed(8)
    x, y = tables()
    model = wide(x.shape[1])
    model.compile(keras.optimizers.Adam(1e-4), loss="mse", metrics=["mae"])
    model.summary(print_fn=lambda text, **_: print(text.splitlines()[0]))
    safe = keras.callbacks.ModelCheckpoint("wide_latest.keras", save_freq=3)
    model.fit(x, y, batch_size=32, epochs=200, verbose=0, validation_split=0.02, callbacks=[Progress(), safe])
    model.save("wide_final.keras")


if __name__ == "__main__":
    main()
