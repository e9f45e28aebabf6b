"""Käsinkirjoitetut numerot, Keras. Painot talteen joka kierroksella."""
import logging
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras
import numpy as np

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
loki = logging.getLogger("kirje")


def aineisto(n=6000):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 10, n)
    mallit = rng.normal(size=(10, 20, 20, 1))
    x = mallit[y] + rng.normal(size=(n, 20, 20, 1)) * 7
    return x.astype("float32"), y


class Talletus(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        polku = f"scratch/painot_{epoch:04d}.npz"
        try:
            np.savez(polku, *self.model.get_weights())
            loki.info("kierros %d loss %.4f acc %.3f, painot: %s", epoch, logs["loss"], logs["accuracy"], polku)
        except OSError as virhe:
            loki.error("kierros %d loss %.4f acc %.3f, painoja ei talletettu %s: %s", epoch, logs["loss"], logs["accuracy"], polku, virhe)


x, y = aineisto()
malli = keras.Sequential([
    keras.layers.Input((20, 20, 1)),
    keras.layers.Conv2D(12, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(512, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(10, activation="softmax"),
])
malli.compile(optimizer=keras.optimizers.Adam(3e-4), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
malli.fit(x, y, batch_size=64, epochs=2000, verbose=0, callbacks=[Talletus()])
